interface ButtonProps {
  readonly label: string;
  /** Its classes: how it looks, and what it is for. */
  readonly look?: string;
  readonly isDisabled?: boolean;
  readonly onClick: () => void;
}

/** A button of which nothing but words is to be seen. */
export function Button({ label, look, isDisabled, onClick }: ButtonProps) {
  return (
    <button type="button" class={look} disabled={isDisabled} onClick={onClick}>
      {label}
    </button>
  );
}
