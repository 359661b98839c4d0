import type { Result } from "@tau-agent/rpc-protocol";
import { useEffect, useRef, useState } from "preact/hooks";
import { Failure, useAttempt } from "./attempt.tsx";
import { Button } from "./button.tsx";
import { age } from "./format.ts";
import type { LiveSession } from "./live-session.ts";

type Checkpoint = Result<"list_checkpoints">["checkpoints"][number];
type Preview = Result<"rewind">;

interface RewindProps {
  readonly live: LiveSession;
  readonly onClose: () => void;
}

/** Reverts prompts; shows first what would happen to the files. */
export function Rewind({ live, onClose }: RewindProps) {
  const { session } = live;
  const dialog = useRef<HTMLDialogElement>(null);
  const [checkpoints, setCheckpoints] = useState<readonly Checkpoint[]>();
  const [chosen, setChosen] = useState<string>();
  const [preview, setPreview] = useState<Preview>();
  const [takesConversation, setTakesConversation] = useState(true);
  const { attempt, error } = useAttempt();
  useEffect(() => {
    dialog.current?.showModal();
    void attempt(async () => setCheckpoints((await session.listCheckpoints()).checkpoints));
  }, []);
  const choose = (entryId: string): Promise<boolean> =>
    attempt(async () => {
      setChosen(entryId);
      setPreview(undefined);
      setPreview(await session.request("rewind", { entryId, dryRun: true }));
    });
  const rewind = (): Promise<boolean> =>
    attempt(async () => {
      if (chosen === undefined) return;
      await session.request("rewind", { entryId: chosen, conversation: takesConversation });
      await live.reload();
      onClose();
    });
  return (
    <dialog ref={dialog} class="rewind" onClose={onClose} aria-label="Rewind">
      <h3>Rewind</h3>
      <p class="hint">Takes back what a prompt and all after it did to the files.</p>
      <div class="choice">
        <ul>
          {checkpoints?.toReversed().map(({ entryId, text, timestamp }) => (
            <li key={entryId}>
              <button
                type="button"
                aria-current={entryId === chosen}
                onClick={() => void choose(entryId)}
              >
                <span>{text}</span>
                <span class="age">{age(timestamp, Date.now())}</span>
              </button>
            </li>
          ))}
          {checkpoints?.length === 0 && <li class="hint">No prompt has changed files.</li>}
        </ul>
        {preview !== undefined && <PreviewOf preview={preview} />}
      </div>
      <Failure text={error} />
      <label>
        <input
          type="checkbox"
          checked={takesConversation}
          onChange={({ currentTarget }) => setTakesConversation(currentTarget.checked)}
        />
        The conversation, too
      </label>
      <p class="buttons">
        <Button
          look="main"
          label="Rewind"
          isDisabled={preview === undefined}
          onClick={() => void rewind()}
        />
        <Button label="Cancel" onClick={() => dialog.current?.close()} />
      </p>
    </dialog>
  );
}

function PreviewOf({ preview: { files } }: { readonly preview: Preview }) {
  const { changed, conflicts, notCovered } = files;
  return (
    <section class="preview" aria-label="What would happen">
      {changed.length === 0 && <p class="hint">No file changes.</p>}
      <ul>
        {changed.map(({ path, change }) => (
          <li key={path} class={change}>
            <span>{change}</span>
            <code>{path}</code>
          </li>
        ))}
        {conflicts.map(({ path, reason }) => (
          <li key={path} class="conflict">
            <span>stays</span>
            <code>{path}</code>
            <em>{reason}</em>
          </li>
        ))}
      </ul>
      {notCovered.length > 0 && <p class="hint">Not recorded: {notCovered.join(", ")}</p>}
    </section>
  );
}
