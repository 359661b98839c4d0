import { join } from "node:path";
import { type BillingServer, createBillingServer, type Turn } from "@tau-agent/ai/testing";
import type { Child } from "../child.ts";
import { addSearchPrograms } from "../comparison/contestants.ts";
import type { Contestant } from "../comparison/scenario.ts";
import type { Frame } from "../frame-receiver.ts";
import { settled } from "../runs.ts";
import { Workspace } from "../workspace.ts";
import { BillClock } from "./bill-clock.ts";
import { fillProject, type SessionNeeds } from "./project.ts";
import { Script } from "./script.ts";
import type { VendorChoice } from "./vendors.ts";

/** A session with a working host, each of whose requests is charged. */
export class BillSession implements AsyncDisposable {
  readonly script: Script;
  readonly clock: BillClock;
  readonly vendor: VendorChoice;
  readonly #contestant: Contestant;
  readonly #workspace: Workspace;
  readonly #server: BillingServer;
  #host: Child | undefined;

  private constructor(
    parts: { script: Script; clock: BillClock; workspace: Workspace; server: BillingServer },
    contestant: Contestant,
    vendor: VendorChoice,
  ) {
    this.script = parts.script;
    this.clock = parts.clock;
    this.#workspace = parts.workspace;
    this.#server = parts.server;
    this.#contestant = contestant;
    this.vendor = vendor;
  }

  static async start(
    contestant: Contestant,
    vendor: VendorChoice,
    needs: SessionNeeds,
  ): Promise<BillSession> {
    const script = new Script();
    const workspace = new Workspace();
    const clock = new BillClock(join(workspace.agentDirectory, "clock"));
    const { scenario } = script;
    const server = await createBillingServer({ vendor: vendor.vendor, scenario, clock: clock.now });
    addSearchPrograms(workspace);
    fillProject(workspace, { ...needs, vendor, server });
    const session = new BillSession({ script, clock, workspace, server }, contestant, vendor);
    await session.open();
    return session;
  }

  get host(): Child {
    if (this.#host === undefined) throw new Error("The host is not running");
    return this.#host;
  }

  get cwd(): string {
    return this.#workspace.cwd;
  }

  get bill() {
    return this.#server.report();
  }

  /** Why the vendor refused a request; undefined if it accepted all. */
  get refusal(): string | undefined {
    return this.#server.refusals[0]?.message;
  }

  /** Starts the host with the session in a file, or with a new one. */
  async open(file?: string): Promise<void> {
    const { vendor, model } = this.vendor;
    const args = ["--mode", "rpc", "--provider", vendor, "--model", model];
    if (file !== undefined) args.push("--session", file);
    const env = { ...this.#workspace.env, ...this.clock.env };
    this.#host = this.#workspace.spawn([...this.#contestant.command, ...args], env);
    if (this.#contestant.hello) this.#host.send(this.#contestant.hello);
    await this.#host.request("get_state");
  }

  /** Ends the host, in order or by force, and continues its session in a new host. */
  async resume(how: "stop" | "kill"): Promise<void> {
    const { sessionFile } = (await this.host.request("get_state")) as { sessionFile: string };
    if (how === "kill") this.host.kill();
    else await this.host.stop();
    await this.open(sessionFile);
  }

  /** Sends a prompt, which the model answers with these turns, and waits until its run has ended. */
  async prompt(message: string, turns: readonly Turn[], more: Frame = {}): Promise<void> {
    const { end } = await this.begin(message, turns, more);
    await end;
  }

  /** Sends a prompt; the returned promise resolves when its run has ended. */
  async begin(
    message: string,
    turns: readonly Turn[],
    more: Frame = {},
  ): Promise<{ readonly end: Promise<Frame> }> {
    this.script.add(...turns);
    const end = settled(this.host);
    end.catch(() => {});
    await this.host.request("prompt", { message, ...more });
    return { end };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#host?.kill();
    this.clock[Symbol.dispose]();
    this.#workspace[Symbol.dispose]();
    await this.#server.close();
  }
}
