class BaseEnvironment:
    default_user = None
