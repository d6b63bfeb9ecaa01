/** Makes the style sheets apply that the document has begun to load; see `apps/web/documents.mjs`. Resolves when all of them do, or have failed. */
export async function applyStyleSheets(): Promise<void> {
  const links = document.querySelectorAll<HTMLLinkElement>('link[data-sheet]');
  await Promise.all(
    [...links].map(
      (link) =>
        new Promise<void>((resolve) => {
          const isOver = (): void => resolve();
          link.onload = isOver;
          link.onerror = isOver;
          link.rel = 'stylesheet';
        }),
    ),
  );
}
