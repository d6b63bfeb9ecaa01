/** A page that was opened before an upgrade misses files that the console no longer has: it is loaded anew. */
import { lazyRouteComponent } from '@tanstack/react-router';

/** Whether the console now serves pages of another build than this one. Where it cannot be asked: no. */
async function isUpgraded(): Promise<boolean> {
  const answer = await fetch(location.pathname, { cache: 'no-store' }).catch(() => undefined);
  if (answer?.ok !== true) return false;
  // The file that this is in, which the document of its build names.
  return !(await answer.text()).includes(new URL(import.meta.url).pathname);
}

/** Loads the page anew where it is of an older build; it then never resolves. It cannot happen twice for one build. */
export async function reloadIfUpgraded(): Promise<void> {
  if (!(await isUpgraded())) return;
  location.reload();
  await new Promise<never>(() => undefined);
}

/** For all that is loaded when it is needed: Vite tells what could not be. */
export function watchUpgrades(): void {
  addEventListener('vite:preloadError', () => void reloadIfUpgraded());
}

/** Loads a part of the page, once more where that has failed: a connection that changes breaks off what it was loading. */
export async function loadPart<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch {
    await reloadIfUpgraded();
    return load();
  }
}

/** A page that is loaded when it is opened. */
export function lazyPage<Module extends Record<string, unknown>, Name extends keyof Module>(
  load: () => Promise<Module>,
  name: Name & string,
) {
  return lazyRouteComponent(async () => {
    try {
      return await loadPart(load);
    } catch (cause) {
      // By another error than the browser's, for which the router would load the page anew, also where there is no connection.
      throw new Error('A file of this page could not be loaded.', { cause });
    }
  }, name);
}
