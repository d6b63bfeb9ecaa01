import { Modal, type ModalProps } from '@mantine/core';
import { useEffect, useState } from 'react';
import { texts } from './texts';

/** Of a dialog with what is shown once, or that waits for it: only its own button closes it. */
export const HELD = {
  closeOnEscape: false,
  closeOnClickOutside: false,
  withCloseButton: false,
} as const;

/** What gets the focus after the dialog that was opened last, in this order. */
let homes: readonly Element[] = [];

/** A dialog, open as long as it is there. Afterwards the focus is where it was before, else at the heading of the page. */
export function Dialog(props: Omit<ModalProps, 'opened'>) {
  useFocusAfterwards();
  return <Modal opened closeButtonProps={{ 'aria-label': texts.close }} {...props} />;
}

function useFocusAfterwards(): void {
  const [own] = useState(homesNow);
  useEffect(() => {
    homes = own;
    return () => {
      // Not before another dialog has taken its place, or React has put back what the action changed.
      setTimeout(() => {
        if (document.activeElement !== document.body) return;
        const isThere = (home: Element): boolean => home.isConnected && !home.matches(':disabled');
        const home = own.find(isThere) ?? document.querySelector('[data-focus-start]');
        if (home instanceof HTMLElement) home.focus();
      });
    };
  }, [own]);
}

/** A dialog that follows on another one, or is above it, has what opened that one as well. */
function homesNow(): readonly Element[] {
  const { activeElement } = document;
  if (activeElement === null || activeElement === document.body) return homes;
  return activeElement.closest('[role="dialog"]') === null
    ? [activeElement]
    : [activeElement, ...homes];
}
