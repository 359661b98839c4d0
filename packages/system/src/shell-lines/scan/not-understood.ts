/** A line is outside of the grammar that {@link scanLine} reads. The message is the reason, as a clause. */
export class NotUnderstood extends Error {
  override readonly name = "NotUnderstood";
}
