/** The texts of the panel in Spanish. */
import { accountChoice } from './es/account-choice.ts';
import { accounts } from './es/accounts.ts';
import { attention } from './es/attention.ts';
import { audit } from './es/audit.ts';
import { callbacks } from './es/callbacks.ts';
import { chargebacks } from './es/chargebacks.ts';
import { connections } from './es/connections.ts';
import { erasure } from './es/erasure.ts';
import { feeInvoices } from './es/fee-invoices.ts';
import { hashDebugger } from './es/hash-debugger.ts';
import { heldForm } from './es/held-form.ts';
import { installation } from './es/installation.ts';
import { invoices } from './es/invoices.ts';
import { ledger } from './es/ledger.ts';
import { links } from './es/links.ts';
import { mails } from './es/mails.ts';
import { me } from './es/me.ts';
import { operators } from './es/operators.ts';
import { overview } from './es/overview.ts';
import { payment } from './es/payment.ts';
import { paymentOrder } from './es/payment-order.ts';
import { payments } from './es/payments.ts';
import { payouts } from './es/payouts.ts';
import { prices } from './es/prices.ts';
import { reconciliations } from './es/reconciliations.ts';
import { refundRequests } from './es/refund-requests.ts';
import { reports } from './es/reports.ts';
import { requests } from './es/requests.ts';
import { restore } from './es/restore.ts';
import { risk } from './es/risk.ts';
import { sandboxConsole } from './es/sandbox.ts';
import { schedules } from './es/schedules.ts';
import { settings } from './es/settings.ts';
import { settlements } from './es/settlements.ts';
import { signIn } from './es/sign-in.ts';
import { statements } from './es/statements.ts';
import { telephoneOrders } from './es/telephone-orders.ts';
import { threeWay } from './es/three-way.ts';
import { tokens } from './es/tokens.ts';
import type { PanelTexts } from './texts.ts';

export const es: PanelTexts = {
  navigation: 'Secciones',
  skip: 'Ir al contenido',
  menu: 'Menú',
  closeMenu: 'Cerrar el menú',
  clockAhead:
    'El reloj del sandbox va {ahead} adelantado: marca {now}. Los pagos, los callbacks y los planes de cobro lo siguen; las llamadas a la API, el registro de auditoría y las sesiones muestran la hora real.',
  clockAheadHere: 'El reloj de esta cuenta va {ahead} adelantado: marca {now}.',
  sandbox: 'Sandbox',
  search: 'Buscar pagos',
  docs: 'Documentación',
  signOut: 'Cerrar sesión',
  refused: 'No es posible',
  unusableForm: 'Este formulario contiene un carácter que no se puede guardar. Vuelva atrás y quítelo.',
  staleForm: 'Este formulario está anticuado. Vuelva atrás, recargue la página e inténtelo de nuevo.',
  backToOverview: 'Volver al resumen',
  firstPage: 'Primera página',
  nextPage: 'Página siguiente',
  downloadCsv: 'Descargar CSV',
  notChosenYet: 'Aún sin elegir',
  copy: 'Copiar',
  exported: '{rows} filas, {size}',
  exportedOf: '{rows} de unas {total} filas, {size}',
  exportDone: 'Guardado: {rows} filas, {size}',
  exportBrokeOff: 'La descarga se interrumpió. Inténtelo de nuevo.',
  copyLink: 'Copiar enlace',
  copied: 'Copiado',
  sections: {
    overview: 'Resumen',
    reports: 'Informes',
    payments: 'Pagos',
    attention: 'Por revisar',
    links: 'Enlaces',
    invoices: 'Facturas',
    telephoneOrders: 'Pedido por teléfono',
    chargebacks: 'Contracargos',
    risk: 'Riesgo',
    ledger: 'Libro mayor',
    accounts: 'Cuentas',
    connections: 'Conexiones',
    prices: 'Precios',
    callbacks: 'Callbacks',
    schedules: 'Planes de cobro',
    requests: 'Llamadas a la API',
    debugger: 'Comprobador de hash',
    sandbox: 'Consola del sandbox',
    operators: 'Usuarios',
    tokens: 'Tokens de API',
    audit: 'Registro de auditoría',
    installation: 'Instalación',
  },
  roles: {
    owner: 'Propietario',
    operator: 'Gestor',
    support: 'Soporte',
    viewer: 'Lector',
    accountant: 'Contabilidad',
    merchant: 'Comercio',
    merchant_accountant: 'Contabilidad del comercio',
    merchant_support: 'Soporte del comercio',
    merchant_cashier: 'Caja del comercio',
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
