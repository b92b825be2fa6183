/** Texts of the panel in Spanish. */
import type { PanelTexts } from '../texts.ts';

export const paymentOrder: PanelTexts['paymentOrder'] = {
  title: 'Líneas del pedido',
  name: 'Artículo',
  quantity: 'Cantidad',
  unit: 'Precio unitario',
  amount: 'Importe',
  subtotal: 'Subtotal',
  shipping: 'Envío',
  tax: 'Impuestos',
  discount: 'Descuento',
  total: 'Total',
  receipt: 'Recibo por correo',
  receiptAttempt: 'Recibo por correo, intento {attempt}',
  states: { waiting: 'en espera', sent: 'enviado', failed: 'fallido' },
};
