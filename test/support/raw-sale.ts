/** A sale as the text of an HTTP request, for tests that send its bytes themselves. */
import { type Merchant, saleFields } from './gateway.ts';

export const FORM_HEAD = 'Host: x\r\nContent-Type: application/x-www-form-urlencoded\r\n';

export const saleBody = (merchant: Merchant, order_id: string): string =>
  new URLSearchParams(saleFields(merchant, { order_id })).toString();

export function rawSale(merchant: Merchant, orderId: string, path = '/post'): string {
  const body = saleBody(merchant, orderId);
  return `POST ${path} HTTP/1.1\r\n${FORM_HEAD}Content-Length: ${body.length}\r\n\r\n${body}`;
}
