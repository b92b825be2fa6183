// The script of pages with device wallets: shows the buttons of the wallets that this browser has, and takes their tokens.
(() => {
  const place = document.getElementById('wallets');
  const { path, failed, busy } = place.dataset;
  const requests = JSON.parse(place.dataset.requests);
  const buttons = [...place.querySelectorAll('[data-wallet]')];
  const buttonOf = (wallet) => buttons.find((button) => button.dataset.wallet === wallet);
  const problem = document.getElementById('wallet-problem');
  // Tells the payer that there is no other way to pay.
  const missing = document.getElementById('no-wallet');
  const vendor = document.getElementById('wallet-vendor');

  const report = (text) => {
    problem.textContent = text;
    problem.hidden = text === '';
  };

  const setBusy = (isBusy) => {
    for (const button of buttons) {
      button.disabled = isBusy;
      button.lastElementChild.textContent = isBusy && button.dataset.used ? busy : button.dataset.label;
    }
  };

  const post = async (where, values) => {
    const answer = await fetch(path + where, { method: 'POST', body: new URLSearchParams(values) });
    return { isDone: answer.ok, ...(await answer.json()) };
  };

  // Sends a token; the answer says where the payer goes on, or why nothing was paid. Without an answer the outcome is not
  // known, and the page shows it after a reload.
  const pay = async (wallet, token) => {
    buttonOf(wallet).dataset.used = '1';
    setBusy(true);
    try {
      return await post('/wallet', {
        wallet,
        token: JSON.stringify(token),
        answer: parent === window ? 'json' : 'framed',
      });
    } catch {
      return { location: location.pathname };
    }
  };

  const goOn = ({ location: next, message }) => {
    if (next) return location.assign(next);
    setBusy(false);
    report(message ?? failed);
  };

  const show = (wallet, open) => {
    const button = buttonOf(wallet);
    button.hidden = false;
    place.hidden = false;
    button.addEventListener('click', () => {
      report('');
      try {
        open();
      } catch {
        report(failed);
      }
    });
  };

  const openA = () => {
    const session = new ApplePaySession(3, requests['wallet-a']);
    session.onvalidatemerchant = async ({ validationURL }) => {
      const answer = await post('/wallet-session', { validation_url: validationURL }).catch(() => ({}));
      if (answer.session) return session.completeMerchantValidation(answer.session);
      session.abort();
      report(failed);
    };
    session.onpaymentauthorized = async ({ payment }) => {
      const answer = await pay('wallet-a', payment.token);
      const isPaid = answer.isDone && !answer.is_declined;
      session.completePayment({ status: isPaid ? ApplePaySession.STATUS_SUCCESS : ApplePaySession.STATUS_FAILURE });
      goOn(answer);
    };
    session.begin();
  };

  const startA = () => {
    try {
      if (ApplePaySession.canMakePayments()) show('wallet-a', openA);
    } catch {
      // This browser does not have the wallet, or not on this page.
    }
  };

  // The vendor wants its own button to be shown. A click on it is a click on ours, which says what is going on.
  const drawB = (client, allowedPaymentMethods) => {
    if (!client.createButton) return;
    const button = buttonOf('wallet-b');
    const drawn = client.createButton({
      allowedPaymentMethods,
      buttonColor: matchMedia('(prefers-color-scheme:dark)').matches ? 'white' : 'black',
      buttonLocale: document.documentElement.lang.slice(0, 2),
      buttonRadius: 12,
      buttonSizeMode: 'fill',
      buttonType: 'pay',
      onClick: () => button.click(),
    });
    drawn.className = 'drawn';
    button.before(drawn);
    button.classList.add('has-drawn');
  };

  const startB = async () => {
    const { environment, ...request } = requests['wallet-b'];
    const { apiVersion, apiVersionMinor, allowedPaymentMethods } = request;
    const { nonce } = vendor?.dataset ?? {};
    try {
      const client = new google.payments.api.PaymentsClient({ environment, ...(nonce && { nonce }) });
      const { result } = await client.isReadyToPay({ apiVersion, apiVersionMinor, allowedPaymentMethods });
      if (!result) return;
      const open = async () => {
        try {
          goOn(await pay('wallet-b', await client.loadPaymentData(request)));
        } catch (error) {
          if (error.statusCode !== 'CANCELED') report(failed);
        }
      };
      show('wallet-b', open);
      drawB(client, allowedPaymentMethods);
    } catch {
      // This browser does not have the wallet, or its script was not loaded.
    }
  };

  const start = async () => {
    if (requests['wallet-a']) startA();
    if (vendor && !window.google?.payments) {
      await new Promise((resolve) => {
        for (const type of ['load', 'error']) vendor.addEventListener(type, resolve);
      });
    }
    if (requests['wallet-b']) await startB();
    if (missing) missing.hidden = !place.hidden;
  };
  if (missing) missing.hidden = true;
  start();

  // A page that the browser restored can be used again.
  addEventListener('pageshow', ({ persisted }) => persisted && setBusy(false));
})();
