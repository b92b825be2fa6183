/** The texts of the panel in French. */
import { accountChoice } from './fr/account-choice.ts';
import { accounts } from './fr/accounts.ts';
import { attention } from './fr/attention.ts';
import { audit } from './fr/audit.ts';
import { callbacks } from './fr/callbacks.ts';
import { chargebacks } from './fr/chargebacks.ts';
import { connections } from './fr/connections.ts';
import { erasure } from './fr/erasure.ts';
import { feeInvoices } from './fr/fee-invoices.ts';
import { hashDebugger } from './fr/hash-debugger.ts';
import { heldForm } from './fr/held-form.ts';
import { installation } from './fr/installation.ts';
import { invoices } from './fr/invoices.ts';
import { ledger } from './fr/ledger.ts';
import { links } from './fr/links.ts';
import { mails } from './fr/mails.ts';
import { me } from './fr/me.ts';
import { operators } from './fr/operators.ts';
import { overview } from './fr/overview.ts';
import { payment } from './fr/payment.ts';
import { paymentOrder } from './fr/payment-order.ts';
import { payments } from './fr/payments.ts';
import { payouts } from './fr/payouts.ts';
import { prices } from './fr/prices.ts';
import { reconciliations } from './fr/reconciliations.ts';
import { refundRequests } from './fr/refund-requests.ts';
import { reports } from './fr/reports.ts';
import { requests } from './fr/requests.ts';
import { restore } from './fr/restore.ts';
import { risk } from './fr/risk.ts';
import { sandboxConsole } from './fr/sandbox.ts';
import { schedules } from './fr/schedules.ts';
import { settings } from './fr/settings.ts';
import { settlements } from './fr/settlements.ts';
import { signIn } from './fr/sign-in.ts';
import { statements } from './fr/statements.ts';
import { telephoneOrders } from './fr/telephone-orders.ts';
import { threeWay } from './fr/three-way.ts';
import { tokens } from './fr/tokens.ts';
import type { PanelTexts } from './texts.ts';

export const fr: PanelTexts = {
  navigation: 'Rubriques',
  skip: 'Aller au contenu',
  menu: 'Menu',
  closeMenu: 'Fermer le menu',
  clockAhead:
    'L’horloge du bac à sable avance de {ahead} : il est {now}. Les paiements, les callbacks et les abonnements la suivent ; les appels d’API, le journal et les sessions affichent l’heure réelle.',
  clockAheadHere: 'L’horloge de ce compte avance de {ahead} : il est {now}.',
  sandbox: 'Bac à sable',
  search: 'Chercher un paiement',
  docs: 'Documentation',
  signOut: 'Se déconnecter',
  refused: 'Impossible',
  unusableForm:
    'Ce formulaire contient un caractère qui ne peut pas être enregistré. Revenez en arrière et supprimez-le.',
  staleForm: 'Ce formulaire n’est plus à jour. Revenez en arrière, rechargez la page et réessayez.',
  backToOverview: 'Retour à la vue d’ensemble',
  firstPage: 'Première page',
  nextPage: 'Page suivante',
  downloadCsv: 'Télécharger en CSV',
  notChosenYet: 'Pas encore choisi',
  copy: 'Copier',
  exported: '{rows} lignes, {size}',
  exportedOf: '{rows} lignes sur environ {total}, {size}',
  exportDone: 'Enregistré : {rows} lignes, {size}',
  exportBrokeOff: 'Le téléchargement s’est interrompu. Réessayez.',
  copyLink: 'Copier le lien',
  copied: 'Copié',
  sections: {
    overview: 'Vue d’ensemble',
    reports: 'Rapports',
    payments: 'Paiements',
    attention: 'À examiner',
    links: 'Liens',
    invoices: 'Factures',
    telephoneOrders: 'Commande par téléphone',
    chargebacks: 'Rétrofacturations',
    risk: 'Risque',
    ledger: 'Grand livre',
    accounts: 'Comptes',
    connections: 'Connexions',
    prices: 'Prix',
    callbacks: 'Callbacks',
    schedules: 'Abonnements',
    requests: 'Appels d’API',
    debugger: 'Vérificateur de hash',
    sandbox: 'Console du bac à sable',
    operators: 'Utilisateurs',
    tokens: 'Jetons d’API',
    audit: 'Journal',
    installation: 'Installation',
  },
  roles: {
    owner: 'Propriétaire',
    operator: 'Opérateur',
    support: 'Support',
    viewer: 'Lecteur',
    accountant: 'Comptable',
    merchant: 'Marchand',
    merchant_accountant: 'Comptabilité du marchand',
    merchant_support: 'Support du marchand',
    merchant_cashier: 'Caisse du marchand',
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
