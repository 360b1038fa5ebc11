// Sorts the table of a report over flops by the column whose heading is pressed; once more turns the order around.
{
  const RANKS = "23456789TJQKA", SUITS = "cdhs";
  const table = document.querySelector("table.flops");
  const heads = [...table?.tHead.rows[0].cells ?? []];
  // flops by their cards, high first; all other columns by their figures
  const card = (name, k) => 4 * RANKS.indexOf(name[k]) + SUITS.indexOf(name[k + 1]);
  const number = (cell) => {
    const value = cell.dataset.value;
    return cell.tagName === "TH" ? [0, 2, 4].reduce((sum, k) => 64 * sum + card(value, k), 0) : Number(value);
  };
  heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => {
    const down = head.ariaSort !== "descending", body = table.tBodies[0];
    for (const other of heads) other.ariaSort = null;
    head.ariaSort = down ? "descending" : "ascending";
    const lines = [...body.rows].map((line) => [number(line.cells[column]), line]);
    lines.sort((a, b) => down ? b[0] - a[0] : a[0] - b[0]);
    body.append(...lines.map((line) => line[1]));
  }));
}
