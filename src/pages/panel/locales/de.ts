/** The texts of the panel in German. */
import { accountChoice } from './de/account-choice.ts';
import { accounts } from './de/accounts.ts';
import { attention } from './de/attention.ts';
import { audit } from './de/audit.ts';
import { callbacks } from './de/callbacks.ts';
import { chargebacks } from './de/chargebacks.ts';
import { connections } from './de/connections.ts';
import { erasure } from './de/erasure.ts';
import { feeInvoices } from './de/fee-invoices.ts';
import { hashDebugger } from './de/hash-debugger.ts';
import { heldForm } from './de/held-form.ts';
import { installation } from './de/installation.ts';
import { invoices } from './de/invoices.ts';
import { ledger } from './de/ledger.ts';
import { links } from './de/links.ts';
import { mails } from './de/mails.ts';
import { me } from './de/me.ts';
import { operators } from './de/operators.ts';
import { overview } from './de/overview.ts';
import { payment } from './de/payment.ts';
import { paymentOrder } from './de/payment-order.ts';
import { payments } from './de/payments.ts';
import { payouts } from './de/payouts.ts';
import { prices } from './de/prices.ts';
import { reconciliations } from './de/reconciliations.ts';
import { refundRequests } from './de/refund-requests.ts';
import { reports } from './de/reports.ts';
import { requests } from './de/requests.ts';
import { restore } from './de/restore.ts';
import { risk } from './de/risk.ts';
import { sandboxConsole } from './de/sandbox.ts';
import { schedules } from './de/schedules.ts';
import { settings } from './de/settings.ts';
import { settlements } from './de/settlements.ts';
import { signIn } from './de/sign-in.ts';
import { statements } from './de/statements.ts';
import { telephoneOrders } from './de/telephone-orders.ts';
import { threeWay } from './de/three-way.ts';
import { tokens } from './de/tokens.ts';
import type { PanelTexts } from './texts.ts';

export const de: PanelTexts = {
  navigation: 'Bereiche',
  skip: 'Zum Inhalt springen',
  menu: 'Menü',
  closeMenu: 'Menü schließen',
  clockAhead:
    'Die Sandbox-Uhr geht {ahead} vor: Es ist {now}. Zahlungen, Callbacks und Abos folgen ihr; API-Aufrufe, Protokoll und Sitzungen zeigen die echte Zeit.',
  clockAheadHere: 'Die Uhr dieses Kontos geht {ahead} vor: Es ist {now}.',
  sandbox: 'Sandbox',
  search: 'Zahlungen suchen',
  docs: 'Dokumentation',
  signOut: 'Abmelden',
  refused: 'Nicht möglich',
  unusableForm:
    'Dieses Formular enthält ein Zeichen, das nicht gespeichert werden kann. Gehen Sie zurück und entfernen Sie es.',
  staleForm:
    'Dieses Formular ist veraltet. Gehen Sie zurück, laden Sie die Seite neu und versuchen Sie es noch einmal.',
  backToOverview: 'Zurück zur Übersicht',
  firstPage: 'Erste Seite',
  nextPage: 'Nächste Seite',
  downloadCsv: 'CSV herunterladen',
  notChosenYet: 'Noch nicht gewählt',
  copy: 'Kopieren',
  exported: '{rows} Zeilen, {size}',
  exportedOf: '{rows} von etwa {total} Zeilen, {size}',
  exportDone: 'Gespeichert: {rows} Zeilen, {size}',
  exportBrokeOff: 'Der Download ist abgebrochen. Versuchen Sie es noch einmal.',
  copyLink: 'Link kopieren',
  copied: 'Kopiert',
  sections: {
    overview: 'Übersicht',
    reports: 'Berichte',
    payments: 'Zahlungen',
    attention: 'Zu klären',
    links: 'Links',
    invoices: 'Rechnungen',
    telephoneOrders: 'Telefonische Bestellung',
    chargebacks: 'Rückbelastungen',
    risk: 'Risiko',
    ledger: 'Hauptbuch',
    accounts: 'Konten',
    connections: 'Anbindungen',
    prices: 'Preise',
    callbacks: 'Callbacks',
    schedules: 'Abos',
    requests: 'API-Aufrufe',
    debugger: 'Hash-Prüfer',
    sandbox: 'Sandbox-Konsole',
    operators: 'Benutzer',
    tokens: 'API-Tokens',
    audit: 'Protokoll',
    installation: 'Installation',
  },
  roles: {
    owner: 'Inhaber',
    operator: 'Bearbeiter',
    support: 'Support',
    viewer: 'Betrachter',
    accountant: 'Buchhaltung',
    merchant: 'Händler',
    merchant_accountant: 'Buchhaltung des Händlers',
    merchant_support: 'Support des Händlers',
    merchant_cashier: 'Kasse des Händlers',
  },
  signIn,
  overview,
  reports,
  reconciliations,
  refundRequests,
  links,
  installation,
  invoices,
  telephoneOrders,
  paymentOrder,
  payments,
  payment,
  attention,
  chargebacks,
  risk,
  ledger,
  feeInvoices,
  settlements,
  payouts,
  statements,
  threeWay,
  erasure,
  accounts,
  settings,
  accountChoice,
  connections,
  prices,
  callbacks,
  schedules,
  operators,
  heldForm,
  mails,
  me,
  requests,
  restore,
  debugger: hashDebugger,
  sandboxConsole,
  tokens,
  audit,
};
