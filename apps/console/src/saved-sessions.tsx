import { Failure, useAttempt } from "./attempt.tsx";
import { age, shortPath } from "./format.ts";
import type { Host } from "./host.ts";

/** The maximum number shown; the filter finds the others. */
const MAX_SHOWN = 100;

/** Saved sessions that are not open, loaded when the user opens the list. */
export function SavedSessions({ host, filter }: { readonly host: Host; readonly filter: string }) {
  const { attempt, error } = useAttempt();
  const open = new Set(
    host.sessions.flatMap(({ sessionPath, durableSessionId }) => [sessionPath, durableSessionId]),
  );
  const found = (host.saved ?? []).filter(
    ({ path, name, cwd, firstMessage }) =>
      !open.has(path) && `${name} ${cwd} ${firstMessage}`.toLowerCase().includes(filter),
  );
  return (
    <details
      class="saved"
      onToggle={({ currentTarget }) => currentTarget.open && void attempt(() => host.readSaved())}
    >
      <summary>Saved sessions</summary>
      <Failure text={error} />
      {host.saved !== undefined && found.length === 0 && <p class="hint">There are no others.</p>}
      <ul>
        {found.slice(0, MAX_SHOWN).map((saved) => (
          <li key={saved.path}>
            <button
              type="button"
              class="row"
              onClick={() => void attempt(() => host.openSaved(saved))}
            >
              <span class="state saved" role="img" aria-label="saved" />
              <span class="name">{saved.name ?? saved.firstMessage}</span>
              <span class="facts">{shortPath(saved.cwd)}</span>
              <span class="age">{age(Date.parse(saved.modified), Date.now())}</span>
            </button>
          </li>
        ))}
      </ul>
      {found.length > MAX_SHOWN && <p class="hint">{found.length - MAX_SHOWN} more</p>}
    </details>
  );
}
