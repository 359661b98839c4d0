const WIDTH = 560;
const MARGIN = 20;
const BAR = 14;
const ROW = 66;
/** Space for the value after the longest bar. */
const VALUE = 92;
const LONGEST = WIDTH - 2 * MARGIN - VALUE;

/** Two values of one row. The bars share a scale that ends at the larger value. */
export interface PlotRow {
  readonly what: string;
  readonly tau: { readonly value: number; readonly text: string };
  readonly peer: { readonly value: number; readonly text: string };
}

/** Bars for Tau and a peer, for light and dark pages, large enough to read on a phone. */
export function plotSvg(title: string, peer: string, rows: readonly PlotRow[]): string {
  const height = 70 + rows.length * ROW;
  const words = rows.map(({ what, tau, peer: other }) => `${what}: ${tau.text}, ${other.text}`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escaped(`${title}, Tau and ${peer}. ${words.join(". ")}`)}">
<style>
text { font: 15px system-ui, sans-serif; fill: #23262c; }
.title { font-weight: 600; font-size: 17px; }
.value { font-size: 14px; fill: #5b616c; }
.card { fill: #fff; stroke: #e3e5ea; }
.tau { fill: #3451b2; }
.peer { fill: #b3b8c2; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6e8ec; }
  .value { fill: #9ba1ac; }
  .card { fill: #1b1d22; stroke: #33363d; }
  .tau { fill: #a8b1ff; }
  .peer { fill: #575d69; }
}
</style>
<rect class="card" x=".5" y=".5" width="${WIDTH - 1}" height="${height - 1}" rx="12"/>
<text class="title" x="${MARGIN}" y="34">${escaped(title)}</text>
${legend(peer)}
${rows.map(bars).join("\n")}
</svg>
`;
}

function legend(peer: string): string {
  const at = WIDTH - MARGIN - 112;
  return `<rect class="tau" x="${at}" y="22" width="14" height="14" rx="3"/><text x="${at + 20}" y="34">Tau</text>
<rect class="peer" x="${at + 72}" y="22" width="14" height="14" rx="3"/><text x="${at + 92}" y="34">${escaped(peer)}</text>`;
}

function bars({ what, tau, peer }: PlotRow, index: number): string {
  const top = 58 + index * ROW;
  const most = Math.max(tau.value, peer.value);
  const bar = ({ value, text }: PlotRow["tau"], kind: string, y: number): string => {
    const length = Math.max(2, Math.round((LONGEST * value) / most));
    return `<rect class="${kind}" x="${MARGIN}" y="${y}" width="${length}" height="${BAR}" rx="3"/><text class="value" x="${MARGIN + length + 8}" y="${y + 12}">${escaped(text)}</text>`;
  };
  return `<text x="${MARGIN}" y="${top + 12}">${escaped(what)}</text>
${bar(tau, "tau", top + 20)}
${bar(peer, "peer", top + 37)}`;
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;");
}
