/* The light or dark theme, for painted elements that cannot follow the style sheet by themselves. */

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Return whether an element is on a dark page. */
export function isNight(element) {
  const scheme = getComputedStyle(element).colorScheme.split(" ");
  return scheme.includes("dark") && (dark.matches || !scheme.includes("light"));
}

/** Call ``turned`` when the page changes between light and dark; returns a function that ends this. */
export function onTheme(turned) {
  const observer = new MutationObserver(turned);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  dark.addEventListener("change", turned);
  return () => {
    observer.disconnect();
    dark.removeEventListener("change", turned);
  };
}
