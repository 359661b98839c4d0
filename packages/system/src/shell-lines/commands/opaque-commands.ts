/** Programs that run the commands they are given in a way that cannot be analysed. */
const runners: ReadonlySet<string> = new Set([
  ...["at", "batch", "busybox", "bwrap", "capsh", "cgexec", "choom", "chpst", "chroot", "coproc"],
  ...["daemonize", "dbus-launch", "dbus-run-session", "dumb-init", "entr", "envdir"],
  ...["eatmydata", "fakechroot", "fakeroot", "faketime", "firejail", "gosu", "hyperfine", "i386"],
  ...["linux32", "linux64", "ltrace", "machinectl", "newgrp", "nsenter", "numactl", "parallel"],
  ...["perf", "pkexec", "prlimit", "proot", "rbash", "run-parts", "run0", "runcon", "runuser"],
  ...["script", "scriptlive", "setarch", "setpriv", "setuidgid", "sg", "softlimit", "ssh-agent"],
  ...["start-stop-daemon", "strace", "su", "su-exec", "systemd-run", "tini", "toybox", "uname26"],
  ...["unbuffer", "unshare", "valgrind", "watch", "watchexec", "x86_64", "xvfb-run"],
]);
/** The dynamic loader runs the program that it is given. */
const loader = /^ld(?:[-.\d]|linux|musl).*\.so(?:\.\d+)*$|^ld\.so$/;

/** Why a program cannot be understood, if it is known to run others. */
export function opaqueReason(program: string): string | undefined {
  return runners.has(program) || loader.test(program)
    ? `${program} runs another command`
    : undefined;
}
