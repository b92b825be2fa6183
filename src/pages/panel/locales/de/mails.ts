/** Texts of the panel in German. */
import type { PanelTexts } from '../texts.ts';

export const mails: PanelTexts['mails'] = {
  invitation: {
    subject: 'Ihre Einladung zu den Zahlungen von {host}',
    body: '{inviter} lädt Sie in das Turnpike-Panel von {host} ein. Dort sehen Sie Zahlungen, erstatten sie und betreuen Konten.',
    button: 'Einladung annehmen',
    after:
      'Der Link gilt einmal und läuft nach einigen Tagen ab. Wenn Sie ihn nicht erwartet haben, ignorieren Sie diese E-Mail.',
  },
  reset: {
    subject: 'Ein neues Passwort für {host}',
    body: 'Hallo {name}, jemand hat für Ihr Turnpike-Panel auf {host} ein neues Passwort angefordert. Sie brauchen dazu auch einen Code Ihrer Authenticator-App oder einen Wiederherstellungscode.',
    button: 'Neues Passwort wählen',
    after:
      'Der Link gilt einmal, eine Stunde lang. Wenn Sie das nicht waren, ignorieren Sie diese E-Mail: Ihr Passwort bleibt, wie es ist.',
  },
  notices: {
    chargebacks: {
      subject: 'Neue Rückbuchungen bei {host}',
      body: 'Banken haben das Geld dieser Zahlungen zurückgeholt:',
      button: 'Rückbuchungen öffnen',
    },
    attention: {
      subject: 'Zahlungen bei {host} brauchen eine Entscheidung',
      body: 'Zu diesen Zahlungen passt nicht, was gemeldet wurde. Ein Mensch muss entscheiden:',
      button: 'Liste öffnen',
    },
    connections: {
      subject: 'Ein Anbieter von {host} antwortet nicht',
      body: 'Aufrufe dieser Anbieter schlagen fehl; Zahlungen nehmen andere Wege, wenn es welche gibt:',
      button: 'Verbindungen öffnen',
    },
    summary: {
      subject: 'Die Woche bei {host}',
      body: 'Vom {from} bis {to}:',
      button: 'Berichte öffnen',
    },
    answerBy: 'Antwort bis {date}',
    noAnswer: 'keine Antwort möglich',
    counts: '{payments} Zahlungen: {settled} bezahlt, {declined} abgelehnt, {chargebacks} Rückbuchungen',
    amounts: '{captured} eingezogen, {refunded} erstattet, {chargedBack} zurückgebucht, {net} netto',
    more: 'und weitere',
    after: 'Sie haben diese E-Mails auf der Seite „Ihre Anmeldung“ gewählt und können sie dort beenden.',
  },
  settlements: {
    paid: {
      subject: 'Auszahlung von {amount} an {name}',
      body: 'Die Auszahlung von {amount} zur Abrechnung {number} ist auf Ihr Bankkonto überwiesen.',
      after: 'Den Kontoauszug zur Abrechnung zeigt das Panel.',
    },
    returned: {
      subject: 'Auszahlung von {amount} an {name} kam zurück',
      body: 'Die Bank hat die Auszahlung von {amount} zur Abrechnung {number} zurückgegeben. Der Betrag gehört wieder zu Ihrem Guthaben und wird mit einer späteren Abrechnung ausgezahlt.',
      after: 'Bitte klären Sie mit uns, ob Ihr Bankkonto stimmt.',
    },
    bankChanged: {
      subject: 'Das Bankkonto von {name} wurde geändert',
      body: 'Auszahlungen in {currency} gehen ab jetzt auf ein anderes Bankkonto: {detail}. 24 Stunden lang wird nichts dorthin gezahlt, außer eine zweite Person bestätigt die Änderung.',
      after: 'Wenn Sie das nicht erwartet haben, melden Sie sich bitte sofort bei uns.',
    },
    reason: 'Die Bank nannte diesen Grund: {detail}',
    button: 'Panel öffnen',
  },
};
