import type { HostedSessionInfo } from "@tau-agent/rpc-protocol";
import { memo } from "preact/compat";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Failure, useAttempt } from "./attempt.tsx";
import { age, dollars, shortPath } from "./format.ts";
import type { Host } from "./host.ts";
import { SavedSessions } from "./saved-sessions.tsx";

/** The number of rows added per animation frame, so that no frame takes long. */
const BATCH = 50;

export function SessionList({ host }: { readonly host: Host }) {
  const [isNew, setNew] = useState(false);
  const [filter, setFilter] = useState("");
  const { sessions } = host;
  const words = filter.toLowerCase();
  const found = sessions.filter(({ name, cwd }) => `${name} ${cwd}`.toLowerCase().includes(words));
  const [count, setCount] = useState(BATCH);
  useEffect(() => {
    if (count >= found.length) return;
    const timer = setTimeout(() => setCount(count + BATCH));
    return () => clearTimeout(timer);
  }, [count, found.length]);
  const running = sessions.filter(({ status }) => status === "running").length;
  const cost = sessions.reduce((sum, one) => sum + (one.cost ?? 0), 0);
  return (
    <nav class="sessions" aria-label="Sessions">
      <header>
        <h1>Tau</h1>
        <span class="totals">
          {running} running · {dollars(cost)}
        </span>
        <button type="button" id="new" class="quiet" onClick={() => setNew(!isNew)}>
          New
        </button>
      </header>
      {isNew && <NewSession host={host} onDone={() => setNew(false)} />}
      {sessions.length + (host.saved?.length ?? 0) > 8 && (
        <input
          type="search"
          class="filter"
          placeholder="Filter"
          aria-label="Filter sessions"
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
      )}
      <ul>
        {found.slice(0, count).map((session) => (
          <Row
            key={session.sessionId}
            host={host}
            session={session}
            since={since(session)}
            isShown={host.shown?.session.sessionId === session.sessionId}
          />
        ))}
      </ul>
      <SavedSessions host={host} filter={words} />
    </nav>
  );
}

interface RowProps {
  readonly host: Host;
  readonly session: HostedSessionInfo;
  readonly since: string;
  readonly isShown: boolean;
}

/** Drawn again only when its own session has changed, not when another one has. */
const Row = memo(({ host, session, since, isShown }: RowProps) => {
  const { sessionId, name, cwd, status, cost, pendingRequests = 0 } = session;
  const state = pendingRequests > 0 ? "waiting" : status;
  const shown = name ?? (cwd === null ? "Session" : shortPath(cwd));
  return (
    <li>
      <button
        type="button"
        class="row"
        aria-current={isShown}
        onClick={() => void host.show(sessionId)}
      >
        <span class={`state ${state}`} role="img" aria-label={state} />
        <span class="name">{shown}</span>
        <span class="cost">{cost === undefined ? "" : dollars(cost)}</span>
        <span class="facts">
          {state === "waiting" ? "waits for you" : state}
          {cwd !== null && name !== null && ` · ${shortPath(cwd)}`}
        </span>
        <span class="age">{since}</span>
      </button>
    </li>
  );
});

function since({ activeAt, startedAt }: HostedSessionInfo): string {
  const at = activeAt ?? startedAt;
  return at === undefined ? "" : age(at, Date.now());
}

function NewSession({ host, onDone }: { readonly host: Host; readonly onDone: () => void }) {
  const { attempt, error } = useAttempt();
  const field = useRef<HTMLTextAreaElement>(null);
  // Focuses only once, because events of any session redraw the form while the user types.
  useLayoutEffect(() => field.current?.focus(), []);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = new FormData(event.currentTarget as HTMLFormElement);
    const [cwd, message] = [form.get("cwd"), form.get("message")].map(String);
    const hasStarted = await attempt(() => host.start({ cwd: cwd ?? "", message: message ?? "" }));
    if (hasStarted) onDone();
  };
  return (
    <form class="new" onSubmit={(event) => void submit(event)}>
      <input
        name="cwd"
        placeholder="Folder (the host's own)"
        aria-label="Folder"
        spellcheck={false}
      />
      <textarea
        name="message"
        rows={3}
        required
        placeholder="What shall it do?"
        aria-label="First message"
        ref={field}
      />
      <Failure text={error} />
      <button type="submit" class="main">
        Start
      </button>
    </form>
  );
}
