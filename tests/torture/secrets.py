"""x"""


def run(run, folder):
    pass
