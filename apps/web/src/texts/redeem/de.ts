import { type redeemEn } from './en';
import { refusalsDe } from './refusals-de';

export const redeemDe: typeof redeemEn = {
  title: 'Punkte einlösen',
  intro:
    'Mache aus den Punkten deiner Spiele Token. Bis du sie abgeholt hast, können deine Punkte zurückkommen.',
  refusals: refusalsDe,
  waitUntil: (wait) => `Versuche es ${wait} noch einmal.`,
  asksAgain: 'Diese Seite fragt in einigen Sekunden von selbst noch einmal.',
  waiting: 'Es gibt noch keine Antwort. Diese Seite fragt weiter; nichts geschieht doppelt.',
  unreachable: {
    title: 'Einlösungen sind gerade nicht erreichbar',
    more: 'Nichts geht verloren: Was begonnen wurde, läuft von selbst weiter. Diese Seite versucht es alle paar Sekunden.',
  },
  payouts: {
    chain:
      'Die Chain ist gerade nicht erreichbar, deshalb kann nichts eingelöst werden. Was begonnen wurde, geht weiter, wenn sie zurück ist.',
    paused:
      'Auszahlungen sind angehalten. Bis sie weitergehen, kann nichts eingelöst oder abgeholt werden; Punkte abgelaufener Gutscheine kommen zurück.',
    'set-up': 'Auszahlungen sind gerade nicht möglich, deshalb kann nichts eingelöst werden.',
    balance: 'Gerade gibt es keine Token auszuzahlen, deshalb kann nichts eingelöst werden.',
    window:
      'Was in einer Weile ausgezahlt werden kann, ist aufgebraucht. Versuche es später noch einmal.',
    'too-much': 'Gerade können nur kleine Beträge eingelöst werden.',
  },
  prices: {
    title: 'Zurzeit kann nichts eingelöst werden',
    PRICE_UNAVAILABLE:
      'Der Preis des Tokens steht nicht fest: Es geht weiter, wenn der Betreiber ihn geprüft hat.',
    PRICE_STALE: 'Der Preis des Tokens ist veraltet: Es geht weiter, wenn ein neuer da ist.',
    meanwhile:
      'Deine Punkte bleiben in deinen Spielen, und einen Gutschein, den du hast, kannst du weiter abholen.',
  },
  silent:
    'Einlösungen antworten gerade nicht. Was du hier siehst, kann alt sein; diese Seite fragt weiter.',
  offline:
    'Du bist offline. Was du hier siehst, kann alt sein; es wird erneuert, wenn du zurück bist.',
  loading: 'Lädt…',
  retry: 'Noch einmal versuchen',
  wallet: {
    title: 'Wallet verbinden',
    why: 'Deine Wallet zeigt, welche Punkte dir gehören, und bekommt die Token.',
    none: 'In diesem Browser ist keine Wallet',
    noneOnPhone: 'Öffne diese Seite in der App deiner Wallet',
    whatIsOne:
      'Eine Wallet ist eine kostenlose Erweiterung oder App, die deine Token verwahrt. Gib ihre Wiederherstellungswörter niemandem, auch uns nicht.',
    install: 'Installiere eine, zum Beispiel:',
    openIn: 'Der Browser eines Telefons hat keine Wallet. Öffne diese Seite im Browser einer App:',
    openWith: (name) => `In ${name} öffnen`,
    get: (name) => `${name} installieren`,
    afterInstalling: 'Lade dann diese Seite neu. Jede andere Wallet für Ethereum geht auch.',
    afterOpening: 'Jede andere Wallet-App mit einem Browser geht auch.',
    connect: (name) => `${name} verbinden`,
    test: 'Ein Konto der lokalen Chain, um diese Seite auszuprobieren.',
    connecting: 'Sieh in deine Wallet: Sie fragt, ob sie sich verbinden soll.',
    rejected: 'Du hast dich nicht verbunden. Du kannst es noch einmal versuchen.',
    requestOpen: 'Öffne deine Wallet: Dort wartet eine Anfrage auf dich.',
    failed: 'Die Wallet hat sich nicht verbunden. Du kannst es noch einmal versuchen.',
    disconnect: 'Trennen',
    otherAccount: (wallet) =>
      `Deine Wallet zeigt jetzt ein anderes Konto (${wallet}). Was du hier siehst, gehört noch zu dem angemeldeten Konto.`,
    signInAs: 'Mit diesem Konto anmelden',
    connected: 'Verbundene Wallet',
    reconnect: 'Verbinde deine Wallet, um abzuholen.',
  },
  signIn: {
    title: 'Anmelden',
    why: 'Unterschreibe mit deiner Wallet eine kurze Nachricht. Das kostet nichts und bewegt nichts.',
    button: 'Mit der Wallet anmelden',
    waiting: 'Sieh in deine Wallet: Sie bittet um eine Unterschrift.',
    checking: 'Die Unterschrift wird geprüft…',
    statement: 'Sign in to redeem points.',
    rejected: 'Du hast nicht unterschrieben. Du kannst es noch einmal versuchen.',
    failed: 'Die Wallet konnte nicht unterschreiben. Du kannst es noch einmal versuchen.',
    expired:
      'Deine Sitzung ist zu Ende. Melde dich noch einmal an; alles ist, wo du es gelassen hast.',
    signedOut: 'Du bist abgemeldet.',
    signOut: 'Abmelden',
    signedInAs: 'Angemeldet als',
  },
  partners: {
    title: 'Deine Punkte',
    empty: 'Zurzeit macht kein Spiel mit',
    emptyMore: 'Komm später wieder: Spiele erscheinen hier von selbst.',
    points: (points) => `${points} Punkte`,
    unknownWallet: 'Dieses Spiel kennt deine Wallet nicht',
    unknownWalletMore: 'Verknüpfe sie im Spiel. Deine Punkte erscheinen dann hier von selbst.',
    unknownPoints: 'Deine Punkte können gerade nicht gezeigt werden',
    silentGame: 'Das Spiel ist gerade nicht erreichbar.',
    oddAnswer: 'Das Spiel gab eine Antwort, die nicht zu brauchen ist.',
    worth: (tokens, usd) => `jetzt etwa ${tokens} wert (${usd})`,
    paused: 'Nimmt zurzeit keine Einlösungen an',
    bonus: (rate, from) => `${rate} mehr Token ab ${from} Punkten`,
    claimFirst: 'Du hast hier einen Gutschein. Hole ihn ab oder brich ab, bevor du wieder einlöst.',
    underWay: 'Hier läuft eine Einlösung. Wenn sie zu Ende ist, kannst du wieder einlösen.',
  },
  form: {
    label: 'Wie viele Punkte?',
    all: (points) => `Alle ${points}`,
    most: (points) => `Höchstens ${points}`,
    range: (min, max) => `Zurzeit ${min} bis ${max} Punkte.`,
    tooFewHere: (min) => `Dieses Spiel nimmt ${min} Punkte oder mehr an.`,
    tooFew: (min) => `Gib mindestens ${min} ein.`,
    notANumber: 'Gib eine ganze Zahl von Punkten ein.',
    otherDigits: 'Verwende die Ziffern 0 bis 9.',
    youGet: 'Du bekommst',
    quoteEnds: (time) =>
      `Der Preis wird etwa jede Minute erneuert und längstens bis ${time} verwendet. Bekämst du bis dahin weniger Token, wird nichts abgezogen und du wirst noch einmal gefragt.`,
    bonusIncluded: (rate) => `mit ${rate} Bonus`,
    plusBonus: (usd, rate) => `${usd} und ${rate} Bonus`,
    price: (usd) => `1 Token zu ${usd}`,
    submit: (points) => `${points} Punkte einlösen`,
    submitEmpty: 'Einlösen',
    submitting: 'Wird eingelöst…',
    lastTry:
      'Dein letzter Versuch führte zu nichts, und es wurden keine Punkte abgezogen. Du kannst es noch einmal versuchen.',
  },
  list: {
    title: 'Deine Einlösungen',
    empty: 'Noch keine Einlösungen',
    emptyMore: 'Wenn du Punkte einlöst, kannst du hier Schritt für Schritt zusehen.',
    more: 'Ältere zeigen',
    item: (points) => `${points} Punkte`,
  },
  headlines: {
    starting: 'Beginnt',
    taking: 'Deine Punkte werden abgezogen',
    preparing: 'Dein Gutschein wird vorbereitet',
    claimable: (tokens) => `${tokens} kannst du abholen`,
    sent: (tokens) => `Deine Abholung von ${tokens} ist gesendet; die Chain ist am Zug`,
    inBlock: (tokens) =>
      `Deine Abholung von ${tokens} steht auf der Chain; sie muss noch endgültig werden`,
    sentOver: (tokens) =>
      `Deine Abholung von ${tokens} wurde gesendet; die Chain wird gefragt, ob sie rechtzeitig kam`,
    over: 'Die Zeit zum Abholen ist vorbei; die Chain wird gefragt, ob rechtzeitig abgeholt wurde',
    cancelling: 'Abgebrochen; deine Punkte kommen zurück, wenn nicht vorher abgeholt wurde',
    returning: 'Deine Punkte sind auf dem Rückweg',
    attention: 'Ein Mensch sieht sich das an. Nichts ist verloren.',
    claimed: (tokens) => `Du hast ${tokens}`,
    reverted: 'Deine Punkte sind zurück',
    failed: 'Es wurde nichts abgezogen',
  },
  notes: {
    unclaimed: (time) => `Holst du nicht ab, sind deine Punkte bis spätestens ${time} zurück.`,
    ifNotClaimed: (time) =>
      `Wenn du nicht abgeholt hast, sind deine Punkte bis spätestens ${time} zurück.`,
    ifNotThrough: (time) =>
      `Wenn deine Abholung nicht durchkam, sind deine Punkte bis spätestens ${time} zurück.`,
    final: (wait) => `Die Chain macht es gewöhnlich ${wait} endgültig.`,
    leave: 'Du kannst diese Seite schließen. Es geht ohne dich weiter.',
  },
  reasons: {
    'user-cancelled': 'Du hast sie abgebrochen.',
    'operator-cancelled': 'Ein Betreiber hat sie abgebrochen.',
    'system-cancelled': 'Sie wurde abgebrochen, da sie nicht weitergehen konnte.',
    'quote-expired': 'Sie konnte nicht rechtzeitig begonnen werden. Versuche es noch einmal.',
    'insufficient-points': 'Das Spiel sagt, dass du nicht so viele Punkte hast.',
    'user-not-found': 'Das Spiel kennt deine Wallet nicht.',
    'partner-unreachable': 'Das Spiel war nicht erreichbar.',
    'never-deducted': 'Das Spiel hat deine Punkte nicht abgezogen.',
    'not-deducted-out-of-band': 'Das Spiel hat deine Punkte nicht abgezogen.',
    'claim-timeout': 'Der Gutschein wurde nicht rechtzeitig abgeholt.',
    'deduction-unknown': 'Das Spiel sagte nicht klar, ob es deine Punkte abgezogen hat.',
    'payout-unavailable': 'Die Token konnten nicht ausgezahlt werden.',
    'budget-spent':
      'Was heute eingelöst werden kann, wurde gerade aufgebraucht. Versuche es morgen.',
    'restored-out-of-band': 'Ein Betreiber hat sie beendet.',
  },
  steps: {
    started: 'Einlösung begonnen',
    taken: 'Punkte abgezogen',
    voucher: 'Gutschein bereit',
    claimSent: 'Abholung',
    claimed: 'Token abgeholt',
    returning: 'Punkte gehen zurück',
    reverted: 'Punkte sind zurück',
    failed: 'Beendet; nichts abgezogen',
    attention: 'Ein Mensch sieht es sich an',
  },
  claim: {
    button: (tokens) => `${tokens} abholen`,
    left: (time) => `noch ${time} zum Abholen`,
    show: (tokens) => `Zu deinen ${tokens}`,
    preparing: 'Die Chain wird gefragt, was es kostet…',
    confirm: 'Sieh in deine Wallet: Sie fragt, ob sie die Abholung senden soll.',
    rejected: 'Du hast nicht gesendet. Bis zum Ende der Zeit kannst du es noch einmal versuchen.',
    tooLittleCoin: (coin) =>
      `Deine Wallet hat zu wenig ${coin} für die Netzwerkgebühr. Füge etwas hinzu und hole dann noch einmal ab.`,
    wouldFail:
      'Die Chain würde diese Abholung gerade ablehnen. Warte etwas und versuche es noch einmal; bleibt es so, kommen deine Punkte zurück.',
    failed: 'Die Wallet konnte die Abholung nicht senden. Du kannst es noch einmal versuchen.',
    wrongNetwork: (chain) =>
      `Deine Wallet ist in einem anderen Netz. Zum Abholen braucht es ${chain}.`,
    switchTo: (chain) => `Zu ${chain} wechseln`,
    switchFailed: (chain) =>
      `Die Wallet hat nicht gewechselt. Wähle in ihr ${chain}, oder füge es dort hinzu.`,
    transaction: 'Transaktion',
    gas: (coin) => `Die Netzwerkgebühr zahlst du in ${coin} aus deiner Wallet.`,
    noCoin: (coin) =>
      `Deine Wallet hat kein ${coin}. Abholen kostet eine Netzwerkgebühr in ${coin}: Füge zuerst etwas hinzu.`,
  },
  cancel: {
    button: 'Abbrechen',
    title: 'Diese Einlösung abbrechen?',
    before:
      'Deine Punkte kommen sofort zurück. Brichst du oft ab, wartest du, bevor du wieder einlösen kannst.',
    after: (time) =>
      `Du kannst die Token dann nicht mehr abholen, und deine Punkte sind bis spätestens ${time} zurück.`,
    coolDown: (wait) => `Danach kannst du ${wait} wieder einlösen.`,
    yes: 'Ja, abbrechen',
    no: 'Behalten',
  },
};
