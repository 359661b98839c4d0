import { readFile, stat } from "node:fs/promises";
import { extname, posix, resolve, win32 } from "node:path";
import { ProtocolError } from "@tau-agent/rpc-protocol";
import type { AttachmentInput, ImageContent } from "@tau-agent/rpc-protocol/messages";
import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { systemReason } from "@tau-agent/system";

const imageTypes: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".gif": "image/gif",
  ".webp": "image/webp",
};
const MAX_PDF_BYTES = 32 * 1024 * 1024;
const MAX_TEXT_FILE_BYTES = 5 * 1024 * 1024;

/** What the files on the command line add to the first prompt. */
interface NamedContent {
  readonly text: string;
  readonly images: ImageContent[];
  readonly attachments: AttachmentInput[];
}

/** Reads `@file` arguments: text files become part of the prompt, images and PDFs are attached. */
export async function readFiles(
  files: readonly string[],
  { cwd, elsewhere }: { readonly cwd: string; readonly elsewhere: Workspace | undefined },
): Promise<NamedContent> {
  let text = "";
  const images: ImageContent[] = [];
  const attachments: AttachmentInput[] = [];
  for (const file of files) {
    const refuse = (reason: string): never => {
      throw new ProtocolError("invalid_option", { option: `@${file}`, reason });
    };
    const { path, kind, size, open } = await (elsewhere === undefined
      ? findHere(resolve(cwd, file))
      : findThere(file, cwd, elsewhere));
    if (kind === undefined) refuse("there is no such file");
    if (kind !== "file")
      refuse(kind === "directory" ? "it is a folder" : "it is not a regular file");
    if (size === 0) continue;
    const read = () => open().catch((error) => refuse(systemReason(error)));
    const extension = extname(path).toLowerCase();
    const mimeType = imageTypes[extension];
    if (mimeType !== undefined) {
      images.push({ type: "image", data: (await read()).toString("base64"), mimeType });
      text += `<file name="${path}"></file>\n`;
      continue;
    }
    if (extension === ".pdf") {
      if (size > MAX_PDF_BYTES) refuse("it is larger than 32 MiB");
      const data = (await read()).toString("base64");
      attachments.push({ mimeType: "application/pdf", data, fileName: path });
      continue;
    }
    if (size > MAX_TEXT_FILE_BYTES) refuse("it is too large to be part of a prompt");
    text += `<file name="${path}">\n${(await read()).toString("utf8")}\n</file>\n`;
  }
  return { text, images, attachments };
}

interface NamedFile {
  readonly path: string;
  readonly kind: string | undefined;
  readonly size: number;
  readonly open: () => Promise<Buffer>;
}

async function findHere(path: string): Promise<NamedFile> {
  const found = await stat(path).catch(() => undefined);
  const kind = found?.isFile() ? "file" : found?.isDirectory() ? "directory" : "other";
  const size = found?.size ?? 0;
  return { path, kind: found && kind, size, open: () => readFile(path) };
}

/** If the session runs in a workspace, file names on the command line refer to that workspace. */
async function findThere(name: string, cwd: string, workspace: Workspace): Promise<NamedFile> {
  const { platform } = await workspace.describe();
  const { isAbsolute, join } = platform === "win32" ? win32 : posix;
  const path = isAbsolute(name) ? name : join(cwd, name);
  const found = await workspace.stat(path);
  const open = async () => Buffer.from(await workspace.read(path));
  return { path, kind: found?.kind, size: found?.size ?? 0, open };
}
