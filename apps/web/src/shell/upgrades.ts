/** A page that was opened before an upgrade needs files that the console does not have any more, so it is reloaded. */
import { lazyRouteComponent } from '@tanstack/react-router';

/** Whether the console serves pages of another build than this one; false where it cannot be reached. */
async function isUpgraded(): Promise<boolean> {
  const answer = await fetch(location.pathname, { cache: 'no-store' }).catch(() => undefined);
  if (answer?.ok !== true) return false;
  // The document of a build names this module's file.
  return !(await answer.text()).includes(new URL(import.meta.url).pathname);
}

/** Reloads a page of an older build; the promise never resolves then. It happens at most once for a build. */
export async function reloadIfUpgraded(): Promise<void> {
  if (!(await isUpgraded())) return;
  location.reload();
  await new Promise<never>(() => undefined);
}

/** Watches all lazily loaded files: Vite reports each that could not be loaded. */
export function watchUpgrades(): void {
  addEventListener('vite:preloadError', () => void reloadIfUpgraded());
}

/** Loads a part of the page and retries once, since a change of the network connection aborts a download. */
export async function loadPart<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch {
    await reloadIfUpgraded();
    return load();
  }
}

export function lazyPage<Module extends Record<string, unknown>, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name & string,
) {
  return lazyRouteComponent(async () => {
    try {
      return await loadPart(load);
    } catch (cause) {
      // Replaces the browser's error, for which the router would reload the page, even without a connection.
      throw new Error('A file of this page could not be loaded.', { cause });
    }
  }, name);
}
