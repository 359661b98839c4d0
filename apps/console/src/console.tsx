import { useEffect, useLayoutEffect, useReducer, useState } from "preact/hooks";
import { Details } from "./details.tsx";
import type { Host } from "./host.ts";
import { SessionList } from "./session-list.tsx";
import { SessionView } from "./session-view.tsx";

/** What keys do while no text field has the focus. */
const shortcuts: readonly (readonly [string, string])[] = [
  ["j, k", "next and previous session"],
  ["n", "new session"],
  ["i", "write a message"],
  ["a, d", "allow or deny the first question"],
  ["s", "stop the run"],
  ["r", "rewind"],
  ["Esc", "leave a field, a dialog or a session"],
  ["?", "this list"],
];

export function Console({ host }: { readonly host: Host }) {
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const [areDetailsOpen, setDetailsOpen] = useState(false);
  useEffect(() => host.onChange(() => redraw(0)), [host]);
  const { shown, sessions, questions } = host;
  const shownId = shown?.session.sessionId;

  // Registered together with drawing, so that a key pressed right afterwards is not lost.
  useLayoutEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, target, ctrlKey, metaKey, altKey } = event;
      if (ctrlKey || metaKey || altKey) return;
      const isTyping = target instanceof HTMLElement && target.matches("input, textarea, select");
      if (key === "Escape") {
        if (isTyping) target.blur();
        // Reads the state from the page, because this closure is outdated at a second press.
        else if (document.querySelector(".help, .has-details") !== null) {
          setHelpOpen(false);
          setDetailsOpen(false);
        } else if (document.querySelector("dialog[open]") === null) void host.show(undefined);
        return;
      }
      if (isTyping) return;
      const move = (by: number): void => {
        const rows = [...document.querySelectorAll<HTMLElement>(".sessions > ul .row")];
        const at = rows.findIndex(({ ariaCurrent }) => ariaCurrent === "true");
        rows[Math.min(rows.length - 1, Math.max(0, at + by))]?.click();
      };
      const press = (selector: string): void => {
        const found = document.querySelector<HTMLElement>(selector);
        if (found === null) return;
        event.preventDefault();
        if (found.matches("textarea, input")) found.focus();
        else found.click();
      };
      const actions: Readonly<Record<string, () => void>> = {
        j: () => move(1),
        k: () => move(-1),
        // Focuses a form that is already open instead of closing it.
        n: () => press(document.querySelector(".new") === null ? "#new" : ".new textarea"),
        i: () => press("#message"),
        a: () => press(".question .allow"),
        d: () => press(".question .deny"),
        s: () => press("#stop"),
        r: () => press("#rewind"),
        "?": () => setHelpOpen((isOpen) => !isOpen),
      };
      if (Object.hasOwn(actions, key)) actions[key]?.();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, [host]);

  const waiting = sessions.reduce((sum, { pendingRequests = 0 }) => sum + pendingRequests, 0);
  useEffect(() => {
    document.title = waiting > 0 ? `(${waiting}) Tau console` : "Tau console";
  }, [waiting]);

  return (
    <div class={`console${shown ? " has-session" : ""}${areDetailsOpen ? " has-details" : ""}`}>
      {host.lost !== undefined && (
        <p class="lost" role="alert">
          The host is gone. {host.lost}
        </p>
      )}
      <SessionList host={host} />
      {shown === undefined ? (
        <main class="nothing">
          <p>{sessions.length === 0 ? "No session is open yet." : "Choose a session."}</p>
          <p class="hint">
            Press <kbd>n</kbd> for a new one, <kbd>?</kbd> for all keys.
          </p>
        </main>
      ) : (
        <SessionView
          key={shownId}
          host={host}
          live={shown}
          questions={questions.of(shown.session.sessionId)}
          onDetails={() => setDetailsOpen(!areDetailsOpen)}
        />
      )}
      {shown !== undefined && <Details live={shown} onClose={() => setDetailsOpen(false)} />}
      {isHelpOpen && (
        <aside class="help" aria-label="Keys">
          <dl>
            {shortcuts.map(([keys, text]) => (
              <div key={keys}>
                <dt>{keys}</dt>
                <dd>{text}</dd>
              </div>
            ))}
          </dl>
        </aside>
      )}
    </div>
  );
}
