import { type RefObject, useEffect, useRef } from 'react';

/** The `id` of the element to focus as soon as it exists. */
let wanted: string | undefined;

/** Moves the focus to an element that a click has created, unless the player has moved it elsewhere meanwhile. */
export function focusWhenThere(id: string): void {
  wanted = id;
  focusWanted();
}

/**
 * Preserves the keyboard focus when the focused element disappears, for example a button after its click. The focus
 * moves to the card around it (`data-focus-home`), else to the title of the current content (`data-focus-start`). A
 * button that was disabled temporarily gets the focus back.
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
  // After a pointer press elsewhere the focus is not restored.
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

/** The cards around the element, innermost first. */
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
