import { Modal, type ModalProps } from '@mantine/core';
import { useEffect, useState } from 'react';
import { texts } from './texts';

/** Properties of a dialog whose content is shown once or still awaited: only its own button closes it. */
export const HELD = {
  closeOnEscape: false,
  closeOnClickOutside: false,
  withCloseButton: false,
} as const;

/** Candidates for the focus after the dialog that was opened last, in this order. */
let homes: readonly Element[] = [];

/** A dialog, open while rendered. Afterwards the focus returns to the previous element, else to the page's heading. */
export function Dialog(props: Omit<ModalProps, 'opened'>) {
  useFocusAfterwards();
  return <Modal opened closeButtonProps={{ 'aria-label': texts.close }} {...props} />;
}

function useFocusAfterwards(): void {
  const [own] = useState(homesNow);
  useEffect(() => {
    homes = own;
    return () => {
      // Runs later, so that another dialog can open first and React can render what the action changed.
      setTimeout(() => {
        if (document.activeElement !== document.body) return;
        const isThere = (home: Element): boolean => home.isConnected && !home.matches(':disabled');
        const home = own.find(isThere) ?? document.querySelector('[data-focus-start]');
        if (home instanceof HTMLElement) home.focus();
      });
    };
  }, [own]);
}

/** A dialog that replaces another one, or opens above it, also takes over the candidates of the earlier dialog. */
function homesNow(): readonly Element[] {
  const { activeElement } = document;
  if (activeElement === null || activeElement === document.body) return homes;
  return activeElement.closest('[role="dialog"]') === null
    ? [activeElement]
    : [activeElement, ...homes];
}
