import { type RefObject, useEffect, useRef } from 'react';

/** The `id` of what gets the focus as soon as it is there. */
let wanted: string | undefined;

/** Moves the focus to what a click has made, unless the player has gone elsewhere meanwhile. */
export function focusWhenThere(id: string): void {
  wanted = id;
  focusWanted();
}

/**
 * Keeps the focus of the keyboard with the player: what had it may go away, as a button does after its click. The card around it gets it
 * then (`data-focus-home`), else the title of what is there now (`data-focus-start`). A button that was disabled meanwhile has it again.
 */
export function useKeptFocus(): RefObject<HTMLDivElement | null> {
  const area = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const root = area.current;
    return root === null ? undefined : keepFocus(root);
  }, []);
  return area;
}

function keepFocus(root: HTMLElement): () => void {
  let last: HTMLElement | undefined;
  let homes: readonly HTMLElement[] = [];
  let wasDisabled = false;
  const onFocus = ({ target }: FocusEvent): void => {
    last = target as HTMLElement;
    homes = homesOf(last);
    wasDisabled = false;
  };
  // Who points somewhere else has let go of it.
  const onPointer = (): void => {
    last = undefined;
  };
  const onChange = (): void => {
    if (focusWanted() || last === undefined) return;
    wasDisabled ||= last.matches(':disabled');
    if (document.activeElement !== document.body) return;
    if (!last.isConnected) {
      const home = homes.find(({ isConnected }) => isConnected);
      (home ?? root.querySelector<HTMLElement>('[data-focus-start]'))?.focus();
    } else if (wasDisabled && !last.matches(':disabled')) last.focus();
  };
  const observer = new MutationObserver(onChange);
  observer.observe(root, { subtree: true, childList: true, attributeFilter: ['disabled'] });
  root.addEventListener('focusin', onFocus);
  addEventListener('pointerdown', onPointer, true);
  return () => {
    observer.disconnect();
    root.removeEventListener('focusin', onFocus);
    removeEventListener('pointerdown', onPointer, true);
  };
}

/** The cards around it, the innermost first. */
function homesOf(element: HTMLElement): HTMLElement[] {
  const home = element.closest<HTMLElement>('[data-focus-home]');
  if (home === null) return [];
  return [home, ...(home.parentElement === null ? [] : homesOf(home.parentElement))];
}

function focusWanted(): boolean {
  const element = wanted === undefined ? null : document.getElementById(wanted);
  if (element === null) return false;
  wanted = undefined;
  const { activeElement } = document;
  const isFree =
    activeElement === null || activeElement.matches('body, :disabled, [data-focus-home]');
  if (isFree) element.focus();
  return isFree;
}
