/** Whether a host name, in the notation of `URL`, means this machine. */
export function isLoopback(hostname: string): boolean {
  return /^(localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0|.*\.localhost)$/.test(hostname);
}
