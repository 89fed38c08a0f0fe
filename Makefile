# One command for all checks: make check. All of CI: make ci.
UV ?= python3 -m uv
RUN = $(UV) run --group dev

.PHONY: check lint format types test slow drills ci demo serve lock size layers-lock

check: lint types test  ## lint, types and quick tests

lint:
	$(RUN) ruff format --check .
	$(RUN) ruff check .

format:  ## writes what lint asks for
	$(RUN) ruff format .
	$(RUN) ruff check --fix .

types:
	$(RUN) mypy

test:
	$(RUN) pytest -n 2

slow:  ## real models, kills, many processes: minutes
	$(RUN) pytest -m "slow and not aws"

drills:  ## load, outage and kills on a stack deployed to stand-ins: twenty minutes
	$(RUN) pytest -s -m "slow and aws"

ci:  ## what the pipeline runs, on both Pythons
	.ci/run

demo:
	$(UV) run rearview demo

serve:
	$(UV) run rearview serve

lock:
	$(UV) lock

size:  ## unzipped size and start-up CPU of each function
	python3 infra/size.py

layers-lock:  ## the pins of the Lambda layers, from uv.lock
	$(UV) run python infra/build_layers.py lock
