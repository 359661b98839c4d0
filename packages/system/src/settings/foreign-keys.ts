const foreignKeys = `$schema theme themes hideThinkingBlock quietStartup lastChangelogVersion collapseChangelog
  doubleEscapeAction treeFilterMode editorPaddingX autocompleteMaxVisible showHardwareCursor terminal
  markdown keybindings npmCommand websocketConnectTimeoutMs enableInstallTelemetry
  externalEditor statusLine symbolPreset colorBlindMode setupVersion extensionChangelogVersions
  sessionShareDestination showCacheMissNotices selfUpdateCommand enableAnalytics trackingId deviceId
  outputPad warnings codemode cacheWarming tuiMode websockets fullscreenExitOutput
  fullscreenScrollbar fullscreenCopyOnSelect fullscreenWheelScrollLines`;

/** Whether it is a terminal setting of other pi-compatible hosts in the same file: unused here, but not a mistake. */
export function isForeignKey(key: string): boolean {
  return foreignKeys.split(/\s+/).includes(key);
}
