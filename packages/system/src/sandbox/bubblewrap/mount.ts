export type Mount =
  /** The host's file or folder, read-only. */
  | { readonly kind: "readOnly"; readonly path: string; readonly from?: string | undefined }
  /** The host's file or folder, writable. */
  | { readonly kind: "writable"; readonly path: string; readonly from?: string | undefined }
  /** An empty folder, in which other mounts may appear. */
  | { readonly kind: "empty"; readonly path: string }
  /** A link, for folders that are empty except for their mounts. */
  | { readonly kind: "link"; readonly path: string; readonly target: string };

const ranks = { empty: 0, writable: 1, readOnly: 2, link: 3 } as const;

/** Outer paths first, so that inner ones take effect; for the same path, the stricter mount last. */
export function inMountOrder(mounts: readonly Mount[]): readonly Mount[] {
  const depth = ({ path }: Mount) => path.split("/").filter((part) => part !== "").length;
  return [...mounts].sort(
    (left, right) => depth(left) - depth(right) || ranks[left.kind] - ranks[right.kind],
  );
}
