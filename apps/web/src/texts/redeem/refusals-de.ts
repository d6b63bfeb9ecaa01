import { type RefusalCode } from '../../api/refusal-codes';

export const refusalsDe: Record<RefusalCode, string> = {
  ANSWER_TOO_LARGE: 'Die Antwort war zu groß, um sie zu zeigen. Versuche es später noch einmal.',
  BAD_REQUEST: 'Das wurde nicht verstanden. Prüfe deine Eingabe.',
  CSRF_TOKEN: 'Du hast dich in einem anderen Tab an- oder abgemeldet. Lade die Seite neu.',
  FINAL: 'Diese Einlösung ist schon beendet.',
  FOREIGN_ORIGIN:
    'Diese Seite ist nicht unter der Adresse, für die sie eingerichtet ist. Bitte sage es dem Betreiber.',
  IDEMPOTENCY_CONFLICT: 'Danach wurde schon in anderer Form gefragt. Versuche es noch einmal.',
  IDEMPOTENCY_IN_PROGRESS: 'Diese Einlösung wird gerade angelegt.',
  INSUFFICIENT_POINTS: 'So viele Punkte hast du dort nicht.',
  INTERNAL_SERVER_ERROR:
    'Bei uns ging etwas schief. Versuche es noch einmal; nichts geschieht doppelt.',
  INVALID_POINTS: 'Gib eine ganze Zahl von Punkten ein.',
  NEEDS_OPERATOR: 'Ein Mensch sieht sich diese Einlösung an; abbrechen geht gerade nicht.',
  NOT_FOUND: 'Das gibt es nicht mehr.',
  NOT_RESTORABLE: 'Diese Einlösung kann gerade nicht abgebrochen werden.',
  NOT_YET_CANCELLABLE: 'In diesem Augenblick kann sie nicht abgebrochen werden.',
  NO_CONNECTION: 'Die Seite hat keine Verbindung.',
  PARTNER_BUDGET_SPENT:
    'Was dieses Spiel heute ausgibt, ist fast aufgebraucht. Versuche weniger Punkte, oder morgen.',
  PARTNER_ERROR:
    'Das Spiel gab eine Antwort, die nicht zu brauchen ist. Es wurden keine Punkte abgezogen.',
  PARTNER_PAUSED: 'Dieses Spiel nimmt zurzeit keine Einlösungen an.',
  PARTNER_UNAVAILABLE: 'Das Spiel ist gerade nicht erreichbar. Es wurden keine Punkte abgezogen.',
  PAYOUTS_UNAVAILABLE:
    'Gerade können keine Token ausgezahlt werden, deshalb werden keine Punkte abgezogen.',
  PRICE_STALE: 'Der Preis des Tokens ist zu alt, deshalb werden keine Punkte abgezogen.',
  PRICE_UNAVAILABLE:
    'Gerade gibt es keinen Preis des Tokens, deshalb werden keine Punkte abgezogen.',
  QUOTE_CHANGED:
    'Der Preis hat sich bewegt: Du hättest weniger bekommen als gezeigt. Es wurde nichts abgezogen; sieh dir den neuen Betrag an.',
  RATE_LIMIT_EXCEEDED:
    'Das war zu oft, oder deine letzten Einlösungen führten zu nichts. Warte ein wenig.',
  REDEMPTIONS_PAUSED:
    'Einlösungen sind angehalten, solange der Betreiber die Bücher prüft. Es werden keine Punkte abgezogen.',
  REDEMPTION_OPEN:
    'Du hast bei diesem Spiel eine offene Einlösung. Schließe sie ab oder brich sie ab.',
  SERVICE_UNAVAILABLE: 'Einlösungen sind gerade nicht erreichbar.',
  SIWE_CHAIN_ID:
    'Die Nachricht wurde für ein anderes Netz unterschrieben. Melde dich noch einmal an.',
  SIWE_DOMAIN:
    'Die Anmeldung ist für die Adresse dieser Seite nicht eingerichtet. Der Betreiber muss sie in SIWE_DOMAINS aufnehmen.',
  SIWE_EXPIRED: 'Die Nachricht wurde zu spät unterschrieben. Melde dich noch einmal an.',
  SIWE_ISSUED_AT:
    'Die Uhr dieses Geräts geht stark falsch. Stelle sie und melde dich noch einmal an.',
  SIWE_NONCE:
    'Die Nachricht wurde schon benutzt oder zu spät unterschrieben: Konten haben 5 Minuten, Vertrags-Wallets 30. Melde dich noch einmal an.',
  SIWE_NOT_BEFORE:
    'Die Uhr dieses Geräts geht stark falsch. Stelle sie und melde dich noch einmal an.',
  SIWE_SIGNATURE: 'Die Unterschrift gehört nicht zu diesem Konto. Melde dich noch einmal an.',
  SIWE_URI:
    'Die Anmeldung ist für die Adresse dieser Seite nicht eingerichtet. Der Betreiber muss sie in SIWE_DOMAINS aufnehmen.',
  SIWE_WALLET:
    'Diese Adresse gehört zu einer Chain oder zu einem Vertrag. Wähle eines deiner Konten.',
  TOO_FEW_POINTS: 'Das sind weniger Punkte, als dieses Spiel annimmt.',
  TOO_FEW_TOKENS: 'Diese Punkte ergeben weniger als den kleinsten Teil eines Tokens. Gib mehr ein.',
  TOO_LATE_TO_CANCEL: 'Diese Einlösung kann nicht mehr abgebrochen werden.',
  TOO_MANY_POINTS: 'Das sind mehr Punkte, als gerade auf einmal eingelöst werden können.',
  UNAUTHORIZED: 'Deine Sitzung ist zu Ende. Melde dich noch einmal an.',
  UNEXPECTED_ANSWER: 'Die Antwort war nicht wie erwartet. Versuche es später noch einmal.',
  USER_NOT_FOUND: 'Dieses Spiel kennt deine Wallet nicht. Verknüpfe sie zuerst dort.',
  VOUCHER_COOL_DOWN:
    'Du hast einen Gutschein nicht abgeholt, deshalb wartest du, bevor du wieder einlösen kannst.',
  WALLET_BUDGET_SPENT:
    'Was eine Wallet an einem Tag einlösen kann, ist fast aufgebraucht. Versuche weniger Punkte, oder morgen.',
};
