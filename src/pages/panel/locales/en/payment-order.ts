/** The texts of the order lines and of the e-mailed receipt in English. */
export const paymentOrder = {
  title: 'Order lines',
  name: 'Item',
  quantity: 'Quantity',
  unit: 'Unit price',
  amount: 'Amount',
  subtotal: 'Subtotal',
  shipping: 'Shipping',
  tax: 'Tax',
  discount: 'Discount',
  total: 'Total',
  receipt: 'Receipt by e-mail',
  receiptAttempt: 'Receipt by e-mail, attempt {attempt}',
  states: { waiting: 'waiting', sent: 'sent', failed: 'failed' },
};
