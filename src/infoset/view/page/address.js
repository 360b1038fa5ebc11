/* Sources in addresses: ``item:0/leduc.npz`` becomes the parameter ``item``. */

const KINDS = ["item", "game", "solved", "lock"];

/** Return the parameters by which a source is shown. */
export function address(source, more = {}) {
  const [kind, ...rest] = source.split(":");
  return { [kind]: rest.join(":"), ...more };
}

/** Return the source that parameters name, "" where they name none. */
export function sourceIn(parameters) {
  const kind = KINDS.find((name) => parameters.get(name));
  return kind ? `${kind}:${parameters.get(kind)}` : "";
}
