/** So long it is waited for what a page is to show: on a busy machine that takes its time, and no result depends on it. */
export const PATIENCE_MS = 45_000;
