/** How often the overview asks again while it is looked at. */
export const EVERY_MS = 10_000;
