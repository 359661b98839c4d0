/** A PDF with a line of text on each page; an encrypted one has an unknown password. */
export function makePdf(
  pages: readonly string[],
  { isEncrypted = false }: { readonly isEncrypted?: boolean } = {},
): Buffer {
  const objects: string[] = [];
  const add = (body: string): number => objects.push(body);
  const catalog = add("<< /Type /Catalog /Pages 2 0 R >>");
  add("");
  const font = add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>");
  const kids = pages.map((text) => {
    const lines = text.split("\n").map((line) => `(${line.replace(/[\\()]/g, "\\$&")}) Tj T*`);
    const stream = text === "" ? "" : `BT /F1 12 Tf 14 TL 72 720 Td ${lines.join(" ")} ET`;
    const content = add(`<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`);
    const resources = `<< /Font << /F1 ${font} 0 R >> >>`;
    return add(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources ${resources} /Contents ${content} 0 R >>`,
    );
  });
  objects[1] = `<< /Type /Pages /Kids [${kids.map((kid) => `${kid} 0 R`).join(" ")}] /Count ${kids.length} >>`;
  const secret = `<${"ab".repeat(32)}>`;
  const encryption = isEncrypted
    ? `/Encrypt << /Filter /Standard /V 1 /R 2 /O ${secret} /U ${secret} /P -4 >> /ID [<01><01>]`
    : "";
  let file = "%PDF-1.4\n";
  const offsets = objects.map((body, at) => {
    const offset = file.length;
    file += `${at + 1} 0 obj\n${body}\nendobj\n`;
    return `${String(offset).padStart(10, "0")} 00000 n \n`;
  });
  const start = file.length;
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${offsets.join("")}`;
  file += `trailer\n<< /Size ${objects.length + 1} /Root ${catalog} 0 R ${encryption} >>\nstartxref\n${start}\n%%EOF\n`;
  return Buffer.from(file, "latin1");
}
