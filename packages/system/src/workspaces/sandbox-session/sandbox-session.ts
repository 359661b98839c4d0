/** A program that a {@link SandboxSession} runs. */
export interface SandboxProcess {
  readonly pid?: number | undefined;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr: ReadableStream<Uint8Array>;
  wait(): PromiseLike<{ exitCode: number }>;
  kill(): PromiseLike<void>;
}

/** The part of an AI SDK sandbox session that is used. */
export interface SandboxSession {
  readBinaryFile(options: {
    path: string;
    abortSignal?: AbortSignal;
  }): PromiseLike<Uint8Array | null>;
  writeBinaryFile(options: {
    path: string;
    content: Uint8Array;
    abortSignal?: AbortSignal;
  }): PromiseLike<void>;
  spawn(options: {
    command: string;
    workingDirectory?: string;
    env?: Record<string, string>;
    abortSignal?: AbortSignal;
  }): PromiseLike<SandboxProcess>;
}
