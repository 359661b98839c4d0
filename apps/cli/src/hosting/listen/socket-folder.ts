import { lstatSync, realpathSync, type Stats } from "node:fs";
import { createConnection } from "node:net";
import { dirname, join, parse } from "node:path";
import { errorMessage, ProtocolError } from "@tau-agent/rpc-protocol";

const GROUP_OR_OTHERS_WRITE = 0o022;
const STICKY = 0o1000;

/**
 * Makes sure that nobody else can replace a socket: its folder and all folders above must belong to the user
 * or root and be writable only by them. A sticky folder such as `/tmp`, where everybody can create files but
 * not remove those of others, must contain a folder of the user's own for the socket.
 *
 * @throws {ProtocolError} `invalid_option`
 */
export function checkSocketFolder(socket: string): void {
  const folder = realFolder(socket);
  const user = process.getuid?.();
  if (user === undefined) return;
  let below: Stats | undefined;
  for (let path = folder; ; path = dirname(path)) {
    const found = lstatSync(path);
    if (found.uid !== user && found.uid !== 0) refuse(socket, `${path} belongs to another user`);
    if ((found.mode & GROUP_OR_OTHERS_WRITE) !== 0) {
      const isShared = (found.mode & STICKY) !== 0 && below?.uid === user;
      if (!isShared) refuse(socket, `others can write to ${path}; use a folder of your own`);
    }
    if (path === parse(path).root) return;
    below = found;
  }
}

/**
 * Checks that a socket can be bound: there is none, or only one left by a host that has ended.
 *
 * @returns whether there is a socket file to remove
 * @throws {ProtocolError} `invalid_option`
 */
export async function findDeadSocket(path: string): Promise<boolean> {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return false;
  if (!found.isSocket()) refuse(path, "there is a file that is not a socket");
  if (await isAnswered(path)) refuse(path, "another host listens there");
  return true;
}

function isAnswered(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED" || error.code === "ENOENT") resolve(false);
      else reject(problem(path, error.message));
    });
  });
}

function realFolder(socket: string): string {
  try {
    return realpathSync(join(dirname(socket)));
  } catch (error) {
    return refuse(socket, errorMessage(error));
  }
}

function problem(path: string, reason: string): ProtocolError {
  return new ProtocolError("invalid_option", { option: `--listen unix:${path}`, reason });
}

function refuse(path: string, reason: string): never {
  throw problem(path, reason);
}
