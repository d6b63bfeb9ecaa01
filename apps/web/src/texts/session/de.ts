import { type Texts } from '../en';

export const sessionDe: Texts['session'] = {
  title: { operator: 'Als Betreiber anmelden', partner: 'Für einen Partner anmelden' },
  fresh:
    'Dafür braucht es eine Anmeldung der letzten fünf Minuten. Melden Sie sich noch einmal an; es geht an derselben Stelle weiter.',
  oidc: 'Mit Ihrer Organisation anmelden',
  wallet: (name: string) => `Mit ${name} anmelden`,
  noWallet: 'In diesem Browser ist kein Wallet.',
  linkHint:
    'Einen Link, der einmal anmeldet, gibt derjenige dieser Befehle aus, der zur Installation passt:',
  statement: 'Anmeldung an der Lowmark-Konsole.',
  link: 'Anmeldung',
  invitation: 'Sie sind eingeladen',
  invitedBy: 'Melden Sie sich an, um zu handeln für',
  signOut: 'Abmelden',
  loading: 'Wird geladen',
  retry: 'Noch einmal versuchen',
  unavailable: 'Die Konsole kann gerade nicht sagen, wer angemeldet ist.',
  problems: {
    NOT_AN_OPERATOR:
      'Sie sind bekannt, aber keiner der Betreiber. Ein Administrator kann Sie aufnehmen.',
    NOT_A_MEMBER: 'Sie handeln für keinen Partner. Bitten Sie den Betreiber um eine Einladung.',
    INVITATION_CLOSED:
      'Diese Einladung wurde benutzt, zurückgezogen oder ist abgelaufen. Bitten Sie um eine neue.',
    LINK_INCOMPLETE:
      'Diese Adresse ist nicht der ganze Link. Öffnen Sie ihn so, wie er ausgegeben wurde, bis zum Ende.',
    LINK_CLOSED: 'Dieser Link wurde benutzt oder ist abgelaufen. Machen Sie einen neuen.',
    OIDC_STATE:
      'Diese Anmeldung wurde anderswo begonnen oder dauerte zu lange. Beginnen Sie noch einmal.',
    OIDC_DENIED: 'Der Anmeldedienst hat abgelehnt, oder Sie haben abgebrochen.',
    OIDC_REFUSED: 'Der Antwort des Anmeldedienstes ist nicht zu trauen. Beginnen Sie noch einmal.',
    OIDC_UNAVAILABLE: 'Der Anmeldedienst antwortet nicht. Versuchen Sie es gleich noch einmal.',
    SIWE_SIGNATURE:
      'Das Wallet hat etwas anderes unterschrieben. Vertrags-Wallets können sich hier nicht anmelden.',
    SIWE_ISSUED_AT: 'Die Uhr dieses Geräts geht falsch. Stellen Sie sie und versuchen Sie es neu.',
    SERVICE_UNAVAILABLE: 'Die Konsole kann gerade nicht antworten. Versuchen Sie es gleich neu.',
    RATE_LIMIT_EXCEEDED: 'Zu viele Versuche. Warten Sie einen Moment.',
    REJECTED: 'Das Wallet hat nicht unterschrieben. Sie können es noch einmal versuchen.',
    UNREACHABLE: 'Die Konsole ist nicht zu erreichen. Sind Sie online?',
    other: 'Die Anmeldung hat nicht geklappt. Versuchen Sie es noch einmal.',
  },
};
