/** Texts that the operators' and the partners' pages share. */
export const texts = {
  pages: 'Pages',
  openPages: 'Open the menu',
  skip: 'Skip the menu',
  cancel: 'Cancel',
  close: 'Close',
  copy: 'Copy',
  copied: 'Copied',
  fresh: {
    title: 'Sign in again',
    why: 'This needs a sign-in of the last five minutes. It goes on once you are signed in; nothing that you typed is lost.',
    ended:
      'Your session has ended. It goes on once you are signed in; nothing that you typed is lost.',
    oidcWindow: 'The organisation’s sign-in opens in a window of its own.',
    noWindow: 'The browser opened no window. Allow windows for this page, and try again.',
    elsewhere: 'I have signed in in another window',
    notYet: 'The sign-in of this browser is still older than five minutes.',
    changed: (name: string) =>
      `You are signed in as ${name} now. Look again at what you were about to do, and confirm it once more.`,
    understood: 'Back to it',
  },
  signedIn: {
    title: 'You are signed in',
    more: 'Close this window and go on in the other one.',
  },
} as const;
