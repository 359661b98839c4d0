import { maySpawn } from "../agents/agent-definition.ts";
import { outlineAgents } from "../agents/load-agents.ts";
import type { TaskServices } from "../tasks/task-services.ts";

const purpose = "Give work to subagents. Isolate those that change files at once.";

/**
 * The description of `task`, with the agents it can name. It is read once per folder and trust and then stays the same,
 * because vendors cache the beginning of a request.
 */
export class TaskDescription {
  readonly #services: Omit<TaskServices, "description">;
  #asked: { readonly key: string; readonly read: Promise<void> } | undefined;
  #text = purpose;

  constructor(services: Omit<TaskServices, "description">) {
    this.#services = services;
  }

  /** The description as last read. */
  get text(): string {
    return this.#text;
  }

  /**
   * Reads the agents, unless they were already read for this folder.
   *
   * @throws {WorkspaceError} if the project cannot be reached
   */
  async read(): Promise<void> {
    const { environment, session } = this.#services;
    const { isProjectTrusted } = session();
    const key = `${environment.cwd} ${isProjectTrusted}`;
    if (this.#asked?.key !== key) {
      this.#asked = { key, read: this.#read(isProjectTrusted) };
      this.#asked.read.catch(() => {
        this.#asked = undefined;
      });
    }
    await this.#asked.read;
  }

  async #read(isProjectTrusted: boolean): Promise<void> {
    const { agentDirectory, environment, disk, allowedAgents } = this.#services;
    const { cwd, homeDirectory } = environment;
    const dirs = { agentDirectory, cwd, homeDirectory, disk, isProjectTrusted };
    const lines = [...(await outlineAgents(dirs))]
      .filter(([name]) => maySpawn(allowedAgents, name))
      .map(([name, description]) => `- ${name}${description === "" ? "" : `: ${description}`}`);
    this.#text = `${purpose} Agents:\n${lines.join("\n")}`;
  }
}
