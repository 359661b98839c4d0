import { Client } from "../clients/client.ts";
import type { ClientSetup } from "../clients/client-options.ts";

/** Runs one command; returns its response as a line, or undefined if it has none. */
export async function answerOne(body: string, setup: ClientSetup): Promise<string | undefined> {
  let answer: string | undefined;
  const writer = {
    isDrained: true,
    onDrain: (listener: () => void) => listener(),
    whenDrained: () => undefined,
    write: (line: string, isAnswer = false) => {
      if (isAnswer) answer ??= line;
    },
  };
  const client = new Client({ ...setup, writer, isOneShot: true });
  client.push(body);
  await client.settled();
  client.close();
  return answer;
}
