import { isAbsolute, relative, resolve, sep } from "node:path";
import type { ReplyWatch, StoppedTurn } from "@tau-agent/agent";
import type { SessionEvent } from "@tau-agent/rpc-protocol";
import type { AgentMessage, AssistantMessage } from "@tau-agent/rpc-protocol/messages";
import { type Conversation, createReminder } from "@tau-agent/sessions/log";
import type { Diagnostic, SettingsStore } from "@tau-agent/system";
import { clipped } from "../resources/rules/rule-pattern.ts";
import { describeRule, type StreamRule } from "../resources/rules/stream-rule.ts";
import { RuleHistory } from "./rule-history.ts";
import { RuleWatch } from "./rule-watch.ts";
import { sharedMatchThread } from "./shared-match-thread.ts";

export interface WatchedSession {
  readonly conversation: Pick<Conversation, "log" | "drop">;
  readonly settings: Pick<SettingsStore, "get">;
  readonly problems: { note(diagnostic: Diagnostic): void };
  emit(event: SessionEvent): void | Promise<void>;
}

/** Stops replies that break a user's rule and restarts them with the rule in the context. */
export class StreamRules {
  readonly #session: WatchedSession;
  readonly #folder: { readonly cwd: string };
  readonly #history = new RuleHistory();
  readonly #thread = sharedMatchThread();
  /** Numbers of patterns that are no longer searched for. */
  readonly #hopeless = new Set<number>();

  constructor(session: WatchedSession, folder: { readonly cwd: string }) {
    this.#session = session;
    this.#folder = folder;
  }

  /** Watches the next reply; undefined if no rule may match in it. */
  watch(rules: readonly StreamRule[], run: AbortSignal): ReplyWatch | undefined {
    const { settings, conversation } = this.#session;
    this.#history.follow(conversation.log.tree);
    const policy = { mode: settings.get("ttsr.repeatMode"), gap: settings.get("ttsr.repeatGap") };
    const able = rules.filter(
      ({ name, patterns }) =>
        this.#history.allows(name, policy) &&
        !patterns.every((pattern) => this.#hopeless.has(this.#thread.numberOf(pattern))),
    );
    return able.length === 0 ? undefined : this.#watchFor(able, run);
  }

  #watchFor(rules: readonly StreamRule[], run: AbortSignal): ReplyWatch {
    const stop = new AbortController();
    let struck: readonly StreamRule[] = [];
    const watch = new RuleWatch({
      rules,
      run,
      thread: this.#thread,
      toProjectPath: (path) => projectPath(path, this.#folder.cwd),
      hopeless: this.#hopeless,
      onHopeless: (patterns) => this.#report(patterns, rules),
    });
    const strike = async (found: readonly StreamRule[]): Promise<void> => {
      if (found.length === 0 || run.aborted) return;
      struck = found;
      stop.abort();
      await this.#session.emit({ type: "ttsr_triggered", rules: found.map(describeRule) });
    };
    const mode = this.#session.settings.get("ttsr.contextMode");
    return {
      signal: stop.signal,
      look: (event) => watch.look(event)?.then(strike),
      conclude: (reply) => (mode === "keep" ? kept(reply) : discarded(reply, struck)),
      resume: async (turn) => this.#resume(turn, struck),
    };
  }

  #resume(turn: StoppedTurn, rules: readonly StreamRule[]): readonly AgentMessage[] {
    const isDiscarded = turn.reply.stopReason === "aborted";
    if (isDiscarded) this.#session.conversation.drop([turn.reply, ...turn.toolResults]);
    return [createReminder(rules, isDiscarded ? "discard" : "keep")];
  }

  #report(numbers: readonly number[], rules: readonly StreamRule[]): void {
    for (const { filePath: path, patterns } of rules) {
      for (const pattern of patterns) {
        if (!numbers.includes(this.#thread.numberOf(pattern))) continue;
        const message = `Rule ${path}: its ttsr_trigger ${clipped(pattern.written)} takes too long to match and is now disabled; simplify it and avoid nested repetitions`;
        this.#session.problems.note({ severity: "warning", message, path });
      }
    }
  }
}

/** A discarded reply, which other pi-compatible hosts also leave out of the conversation. */
function discarded(reply: AssistantMessage, rules: readonly StreamRule[]): AssistantMessage {
  const names = rules.map(({ name }) => name).join(", ");
  return { ...reply, stopReason: "aborted", errorMessage: `Stopped by rule ${names}` };
}

/** A reply from which the conversation can continue; an empty reply cannot be kept. */
function kept(reply: AssistantMessage): AssistantMessage {
  const { errorMessage: _, ...rest } = reply;
  if (reply.content.length === 0) return { ...reply, stopReason: "aborted" };
  const hasCalls = reply.content.some(({ type }) => type === "toolCall");
  return { ...rest, stopReason: hasCalls ? "toolUse" : "stop" };
}

/** A path for globs: relative to the project if the file is inside, with forward slashes. */
function projectPath(path: string, cwd: string): string {
  const inside = relative(cwd, resolve(cwd, path));
  const isOutside = inside.startsWith("..") || isAbsolute(inside);
  return (isOutside ? resolve(cwd, path) : inside).split(sep).join("/");
}
