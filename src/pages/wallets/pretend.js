// The pretend wallet of the sandbox: the scripts of both wallets' vendors, as far as the payment page uses them.
(() => {
  const { path } = document.getElementById('wallets').dataset;
  const { cards, validationUrl } = JSON.parse(document.getElementById('wallets').dataset.pretend);

  const element = (name, properties, ...children) => {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  };

  // Opens the sheet; resolves to the chosen card, or to undefined if the payer cancels.
  const openSheet = ({ wallet, merchant, amount, kinds, ready = Promise.resolve() }) =>
    new Promise((resolve) => {
      const choices = cards.filter((card) => card.wallets.includes(wallet) && kinds.includes(card.kind));
      const pay = element('button', { type: 'submit', textContent: `Pay ${amount}`, disabled: true });
      const cancel = element('button', { type: 'button', className: 'second', textContent: 'Cancel' });
      const options = choices.map(({ id, name }, index) =>
        element(
          'label',
          { className: 'saved' },
          element('input', { type: 'radio', name: 'card', value: id, checked: index === 0 }),
          element('span', { textContent: name }),
        ),
      );
      const form = element(
        'form',
        { method: 'dialog' },
        element('h2', { id: 'sheet-title', textContent: 'Test wallet' }),
        element('p', { className: 'soft', textContent: 'This sheet is part of the sandbox. No money moves.' }),
        element(
          'dl',
          {},
          element('dt', { textContent: 'Pay to' }),
          element('dd', { textContent: merchant }),
          element('dt', { textContent: 'Amount' }),
          element('dd', { textContent: amount }),
        ),
        element('fieldset', {}, element('legend', { textContent: 'Test card' }), ...options),
        pay,
        cancel,
      );
      const sheet = element('dialog', { className: 'sheet', lang: 'en', dir: 'ltr' }, form);
      sheet.setAttribute('aria-labelledby', 'sheet-title');
      document.body.append(sheet);
      const end = (card) => {
        sheet.close();
        sheet.remove();
        resolve(card);
      };
      form.addEventListener('submit', (event) => {
        event.preventDefault();
        end(new FormData(form).get('card'));
      });
      cancel.addEventListener('click', () => end());
      sheet.addEventListener('cancel', () => end());
      ready.then(
        () => {
          pay.disabled = false;
        },
        () => end(),
      );
      sheet.showModal();
    });

  const sealToken = async (values) => {
    const address = path.replace('/pay/', '/sandbox/wallets/');
    const answer = await fetch(address, { method: 'POST', body: new URLSearchParams(values) });
    if (!answer.ok) throw new Error('The sandbox made no token.');
    return answer.json();
  };

  window.ApplePaySession = class {
    static STATUS_SUCCESS = 0;
    static STATUS_FAILURE = 1;
    static canMakePayments = () => true;

    constructor(version, request) {
      this.version = version;
      this.request = request;
    }

    async begin() {
      const { total, currencyCode } = this.request;
      const ready = new Promise((resolve, reject) => {
        this.completeMerchantValidation = resolve;
        this.abort = reject;
      });
      const sheet = openSheet({
        wallet: 'wallet-a',
        merchant: total.label,
        amount: `${currencyCode} ${total.amount}`,
        kinds: ['CRYPTOGRAM_3DS'],
        ready,
      });
      this.onvalidatemerchant({ validationURL: validationUrl });
      const card = await sheet;
      if (!card) return this.oncancel?.({});
      const values = { wallet: 'wallet-a', card, amount: total.amount, currency: currencyCode };
      this.onpaymentauthorized({ payment: { token: await sealToken(values) } });
    }

    completePayment({ status }) {
      this.status = status;
    }
  };

  class PaymentsClient {
    async isReadyToPay({ allowedPaymentMethods }) {
      return { result: allowedPaymentMethods.some(({ type }) => type === 'CARD') };
    }

    async loadPaymentData({ allowedPaymentMethods, merchantInfo, transactionInfo }) {
      const { totalPrice, currencyCode } = transactionInfo;
      const card = await openSheet({
        wallet: 'wallet-b',
        merchant: merchantInfo.merchantName,
        amount: `${currencyCode} ${totalPrice}`,
        kinds: allowedPaymentMethods[0].parameters.allowedAuthMethods,
      });
      if (!card) throw { statusCode: 'CANCELED' };
      return sealToken({ wallet: 'wallet-b', card, amount: totalPrice, currency: currencyCode });
    }
  }
  window.google = { payments: { api: { PaymentsClient } } };
})();
