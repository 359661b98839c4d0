/** Browser code: restores the session's JSONL byte for byte. */
export const pageDownloadScript = `
const images = new Map();
for (const source of [document, byId("elsewhere").content]) {
  for (const image of source.querySelectorAll("[data-image]")) images.set(image.dataset.image, image);
}
const mark = 1;
// The page refers to its images by their numbers between two marks; two marks in a row are a byte 1.
function withImages(bytes) {
  const parts = [];
  let from = 0;
  for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, from)) {
    const end = bytes.indexOf(mark, at + 1);
    parts.push(bytes.subarray(from, at));
    const number = new TextDecoder().decode(bytes.subarray(at + 1, end));
    const address = number === "" ? undefined : images.get(number).getAttribute("src");
    parts.push(address === undefined ? new Uint8Array([mark]) : address.slice(address.indexOf(",") + 1));
    from = end + 1;
  }
  parts.push(bytes.subarray(from));
  return parts;
}
async function download() {
  const source = byId("jsonl");
  const packed = Uint8Array.from(atob(source.textContent), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(withImages(bytes), { type: "application/jsonl" }));
  link.download = source.dataset.name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
byId("download").addEventListener("click", download);
`;
