import { useState } from "preact/hooks";

/** Runs an action of the user and keeps the reason if it fails. */
export function useAttempt() {
  const [error, setError] = useState("");
  /** Returns whether it succeeded. */
  const attempt = async (work: () => Promise<void>): Promise<boolean> => {
    setError("");
    try {
      await work();
      return true;
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : String(failure));
      return false;
    }
  };
  return { attempt, error };
}

export function Failure({ text }: { readonly text: string }) {
  if (text === "") return null;
  return (
    <p class="error" role="alert">
      {text}
    </p>
  );
}
