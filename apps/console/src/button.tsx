interface ButtonProps {
  readonly label: string;
  /** CSS classes for its appearance and purpose. */
  readonly look?: string;
  readonly isDisabled?: boolean;
  readonly onClick: () => void;
}

/** A button that shows only text. */
export function Button({ label, look, isDisabled, onClick }: ButtonProps) {
  return (
    <button type="button" class={look} disabled={isDisabled} onClick={onClick}>
      {label}
    </button>
  );
}
