/* Day and night, for what is painted and so cannot follow the style sheet by itself. */

const dark = matchMedia("(prefers-color-scheme: dark)");

/** Whether an element stands on a dark page. */
export function isNight(element) {
  const scheme = getComputedStyle(element).colorScheme.split(" ");
  return scheme.includes("dark") && (dark.matches || !scheme.includes("light"));
}

/** Call back when the page turns to day or to night; what is returned ends that. */
export function onTheme(turned) {
  const observer = new MutationObserver(turned);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });
  dark.addEventListener("change", turned);
  return () => {
    observer.disconnect();
    dark.removeEventListener("change", turned);
  };
}
