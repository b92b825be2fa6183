/** The texts of the telephone orders in Spanish. */
import type { PanelTexts } from '../texts.ts';

export const telephoneOrders: PanelTexts['telephoneOrders'] = {
  hint: 'Introduzca lo que pide el cliente. La página siguiente pide la tarjeta. No anote el número de la tarjeta.',
  account: 'Cuenta',
  amount: 'Importe',
  currency: 'Moneda',
  description: 'Qué se pide',
  order: 'Número de pedido',
  orderHint: 'Déjelo vacío para uno nuevo.',
  make: 'Continuar con la tarjeta',
  notAllowed:
    'Ninguna cuenta acepta pedidos por teléfono. El operador de la pasarela los permite en los ajustes de una cuenta.',
  taken: 'Pedidos que usted ha tomado',
  takenAt: 'Tomado',
  status: 'Estado',
};
