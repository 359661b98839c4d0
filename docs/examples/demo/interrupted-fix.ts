/**
 * The main job, with an accident: in the middle of it the host is killed, and another one goes on from
 * the same session file.
 */
import { ConnectionClosedError, type RpcClient } from "@tau-agent/rpc-client";
import { fact, heading, Screen } from "./screen.ts";
import type { Stage } from "./stage.ts";

type SessionEvent = Parameters<Parameters<RpcClient["onEvent"]>[0]>[0];

const PROMPT = "The tests fail; find out why and fix it.";
const GO_ON = "The host was restarted. Go on where you were interrupted.";
const RUN_LIMIT_MS = 15 * 60_000;
const LOOK_MS = 1200;

/** Starts a host; `args` are added to its command line. */
export type OpenHost = (args?: readonly string[]) => Promise<RpcClient>;

/** Has the tests fixed; the client that it returns belongs to the host that finished the work. */
export async function fixWithAccident(openHost: OpenHost, stage: Stage): Promise<RpcClient> {
  const first = await openHost();
  fact("Host", `${first.host?.name} ${first.host?.version}, process ${first.pid}`);
  fact("Prompt", PROMPT);
  const accident = new Accident(first, new Screen());
  const { sessionFile } = await first.getState();
  try {
    await first.promptAndWait(PROMPT, { timeoutMs: RUN_LIMIT_MS });
  } catch (error) {
    if (!accident.hasHappened || !(error instanceof ConnectionClosedError)) throw error;
  }
  if (!accident.hasHappened || sessionFile === undefined || sessionFile === null) return first;
  await first.stop();
  heading("kill -9, and on with another host");
  fact("Killed", `process ${first.pid}, while ${accident.what} ran`);
  await stage.pause(LOOK_MS);
  const second = await openHost(["--session", sessionFile]);
  const { messages } = await second.getMessages();
  // The call that was interrupted has a result now, which says so.
  const kept = messages.filter((message) => !isInterrupted(message)).length;
  fact("Host", `process ${second.pid}, with the same session file`);
  fact("Kept", `${kept} messages; ${accident.announced} had been announced`);
  fact("Prompt", GO_ON);
  const screen = new Screen();
  second.onEvent((event) => screen.show(event));
  await second.promptAndWait(GO_ON, { timeoutMs: RUN_LIMIT_MS });
  return second;
}

/** Kills the host when it runs its first command after a change: the change is made, but not tested. */
class Accident {
  hasHappened = false;
  /** What ran at that moment. */
  what = "";
  /** How many messages the host had announced as complete. */
  announced = 0;
  #hasChanged = false;

  constructor(client: RpcClient, screen: Screen) {
    client.onEvent((event) => {
      screen.show(event);
      if (event.type === "message_end") this.announced++;
      if (this.#isTheMoment(event) && client.pid !== undefined) {
        this.hasHappened = true;
        process.kill(client.pid, "SIGKILL");
      }
    });
  }

  #isTheMoment(event: SessionEvent): boolean {
    if (this.hasHappened) return false;
    if (event.type === "tool_execution_end") {
      this.#hasChanged ||= !event.isError && ["edit", "write"].includes(event.toolName);
    }
    if (event.type !== "tool_execution_start" || event.toolName !== "bash") return false;
    this.what = `bash ${String(Object(event.args).command).split("\n")[0]}`;
    return this.#hasChanged;
  }
}

function isInterrupted(message: object): boolean {
  return Reflect.get(Object(Reflect.get(message, "details")), "interrupted") === true;
}
