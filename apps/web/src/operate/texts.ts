/** The words of the operators' pages. */
export const texts = {
  nav: {
    label: 'Pages of operators',
    open: 'Open the menu',
    overview: 'Overview',
    wallets: 'Wallets',
    partners: 'Partners',
    redemptions: 'Redemptions',
    reconciliation: 'Reconciliation',
    audits: 'Audits',
    doctor: 'Doctor',
    log: 'Log',
    approvals: 'Approvals',
    signOut: 'Sign out',
  },
};
